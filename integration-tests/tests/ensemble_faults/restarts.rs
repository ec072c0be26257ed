//! An ensemble that is killed as a whole, and started again.

use std::time::Duration;

use integration_tests::waiting::now;
use integration_tests::{Ensemble, EnsembleOptions, pause, scaled, unstalled_case};

use crate::group::{Group, LONG, SOON};
use crate::zookeeper::options;

/// Killed and started at once. Nothing happens, for it serves and the clients are back before the lease ends. What
/// the clients' backoff adds is printed.
async fn an_ensemble_that_comes_back_inside_the_lease_is_invisible(servers: EnsembleOptions) {
    let count = servers.servers;
    let starting = now();
    let mut ensemble = Ensemble::start(servers.with_max_session_timeout(LONG * 2))
        .await
        .unwrap();
    // A busy machine is about as slow the second time, and the backoff doubles that.
    let timeout = scaled(Duration::from_secs(30)).max(now().saturating_since(starting) * 5);
    let group = Group::start(3, &options(&ensemble.connect_string(), timeout)).await;
    pause(timeout / 4).await;
    let before = group.before().await;
    let killed = now();
    for server in 0..count {
        ensemble.server(server).unwrap().kill().unwrap();
    }
    for server in 0..count {
        ensemble.server(server).unwrap().start().unwrap();
    }
    ensemble.leader().await.unwrap();
    let serves = now().saturating_since(killed);
    group.reconnected(&before).await;
    let back = now().saturating_since(killed);
    eprintln!(
        "{count} server(s) killed: they serve after {serves:?}, all clients are back after {back:?}; the backoff added {:?}",
        back.saturating_sub(serves)
    );
    group.expect_untouched(&before).await;
    // Watches live on: a stop is seen by the next one.
    group.processes[0].election.close().await.unwrap();
    let next = group.one_leads(SOON).await;
    assert_ne!(next, 0);
    group.close().await;
}

async fn comes_back(servers: EnsembleOptions) {
    unstalled_case(async || an_ensemble_that_comes_back_inside_the_lease_is_invisible(servers.clone()).await)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_killed_and_started_inside_the_lease_is_invisible() {
    comes_back(EnsembleOptions::standalone()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_killed_and_started_inside_the_lease_are_invisible() {
    comes_back(EnsembleOptions::three()).await;
}
