//! Election and retrieval when the network between one process and the servers fails (design §3 to §5).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod zookeeper;

use std::time::Duration;

use ha_core::ids::ComponentId;
use ha_testkit::fakes::RecordingListener;
use ha_zookeeper::client::{ClientSource as _, MultiError, Operation};
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::waiting::now;
use integration_tests::{
    AdminClient, Ensemble, broken_invariant, eventually, pause, recovery_limit, scaled, unstalled_case,
};
use zookeeper::{AT_ONCE, Process, new_cluster, options, wait_until_leads};

const LONG: Duration = Duration::from_secs(60);
/// The session timeout where sessions expire.
const TIMEOUT: Duration = Duration::from_secs(6);
/// Within a session timeout, two ticks and a second of the last request that reached a server.
const EXPIRY: Duration = Duration::from_secs(8);

/// Requests, replies or both are held back for longer than a session lasts: the lease of the process behind the
/// proxy is over before anybody else leads, and its late writes are refused.
async fn a_partition_has_no_two_leaders(hold_requests: bool, hold_replies: bool, within: Duration) {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let proxy = FaultProxy::start(&servers).await.unwrap();
    let paths = new_cluster();
    let timeout = TIMEOUT;
    let old = Process::start("old", &paths, options(&proxy.address(), timeout)).await;
    wait_until_leads(&old, AT_ONCE).await;
    let next = Process::start("next", &paths, options(&servers, timeout)).await;
    let fence = old.fence.current().unwrap().unwrap();
    // Until its lease is as long as it gets.
    pause(timeout).await;
    assert_eq!(old.term().await, Some(fence.session));

    proxy.hold(Direction::ToServer, hold_requests);
    proxy.hold(Direction::ToClient, hold_replies);
    let cut = now();
    loop {
        // In this order: if the old one leads after the next one does, both do at once.
        let next_leads = next.leads().await;
        if next_leads && old.leads().await {
            broken_invariant("two leaders");
        }
        if next_leads {
            break;
        }
        let waited = now().saturating_since(cut);
        assert!(
            waited < scaled(recovery_limit(within)),
            "nobody leads after {waited:?}"
        );
        pause(Duration::from_millis(5)).await;
    }

    proxy.hold_both(false);
    let client = eventually("connected again", LONG, async || Ok(old.session.client().await?))
        .await
        .unwrap();
    let late = client
        .multi(vec![
            fence.check(),
            Operation::Create {
                path: format!("{}/late", paths.cluster()),
                data: "".into(),
                mode: ha_zookeeper::client::CreateMode::Persistent,
            },
        ])
        .await;
    assert!(
        matches!(late, Err(MultiError::Refused { index: 0, .. })),
        "{late:?}"
    );
    // It stands behind the other one, and leads when that one goes.
    next.close().await;
    wait_until_leads(&old, LONG).await;
    assert_ne!(old.term().await, Some(fence.session));
    old.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_ways() {
    unstalled_case(async || {
        a_partition_has_no_two_leaders(true, true, EXPIRY).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_requests_are_lost() {
    unstalled_case(async || {
        a_partition_has_no_two_leaders(true, false, EXPIRY).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_replies_are_lost() {
    unstalled_case(async || {
        // Each attempt to reconnect reaches the server and keeps the session, until the client gives it up after 1.4
        // timeouts and one more attempt to attach.
        a_partition_has_no_two_leaders(false, true, TIMEOUT * 2 + EXPIRY).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retrievers_follow_changes_and_survive_garbage() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let timeout = Duration::from_secs(20);
    let follower = Process::connect("follower", &paths, options(&servers, timeout)).await;
    let (strict, tolerant) = (RecordingListener::new(), RecordingListener::new());
    let (strict_service, tolerant_service) = (follower.retriever(false), follower.retriever(true));
    strict.listen(&strict_service).await;
    tolerant.listen(&tolerant_service).await;

    let first = Process::start("first", &paths, options(&servers, timeout)).await;
    strict.wait_for_address("http://first:1").await;
    tolerant.wait_for_address("http://first:1").await;
    let second = Process::start("second", &paths, options(&servers, timeout)).await;
    first.close().await;
    strict.wait_for_address("http://second:1").await;
    tolerant.wait_for_address("http://second:1").await;

    // Unreadable: an error that names the znode, nobody known, and the watch stays armed.
    let info = paths.connection_info(&ComponentId::dispatcher());
    admin.set(&info, b"{garbage").await.unwrap();
    strict.wait_for_error().await;
    strict.wait_for_address("http://second:1").await;
    eventually("the error was told", AT_ONCE, async || {
        let told = format!("{:?}", strict.events());
        anyhow::ensure!(told.contains(&info), "{told}");
        Ok(())
    })
    .await
    .unwrap();

    tolerant.wait_for_address("http://second:1").await;
    second.close().await;
    strict.wait_for_none().await;
    tolerant.wait_for_none().await;
    strict_service.stop().await.unwrap();
    tolerant_service.stop().await.unwrap();
    follower.close().await;
}
