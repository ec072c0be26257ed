//! B08. Symptom: somebody deletes the leader's latch by hand; a second leader is elected while the first goes on.
//!
//! Provoked: another client deletes the leader's latch, among three processes and with one alone.
//!
//! Right: the leader watches its own latch: it revokes at once, stands in the election again behind the others
//! with another latch, and leads again, if it does, in a new term. Nothing is published here: a leader's next write
//! would be refused, and its next proof of the lease is seconds away, so that only the watch tells in time.
//!
//! Source: CURATOR-171 (curator#692, curator#195).

use std::time::Duration;

use ha_testkit::fakes::{ContenderCall, RecordingContender};
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::{AdminClient, Ensemble, eventually};

use crate::zookeeper::{AT_ONCE, Process, close_all, new_cluster, one_leads, options};

const TIMEOUT: Duration = Duration::from_secs(60);
/// Before the next proof of the lease, an eighth of the timeout after the last, could tell.
const PROMPTLY: Duration = Duration::from_secs(5);

/// A process that contends and publishes nothing.
async fn start(name: &str, servers: &str, paths: &ClusterPaths) -> Process {
    let mut process = Process::connect(name, paths, options(servers, TIMEOUT)).await;
    process.contender = RecordingContender::new(&format!("http://{name}:1"));
    process.contender.contend(&process.service).await;
    process
}

#[tokio::test(flavor = "multi_thread")]
async fn b08_the_leader_whose_latch_is_deleted_revokes_and_stands_behind() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let mut processes = Vec::new();
    for name in ["a", "b", "c"] {
        processes.push(start(name, &servers, &paths).await);
    }
    let old = one_leads(&processes, AT_ONCE).await;
    let latch = processes[old].latch();
    let term = processes[old].fence.current().unwrap().unwrap().session;
    admin.delete(&latch).await.unwrap();
    let new = eventually("another leads", PROMPTLY, async || {
        let new = one_leads(&processes, PROMPTLY).await;
        anyhow::ensure!(new != old);
        Ok(new)
    })
    .await
    .unwrap();
    let revoked = ContenderCall::Revoked {
        has_leadership: false,
    };
    eventually("the old one is revoked", PROMPTLY, async || {
        let calls = processes[old].contender.calls();
        anyhow::ensure!(calls.contains(&revoked), "{calls:?}");
        Ok(())
    })
    .await
    .unwrap();
    assert_ne!(processes[new].term().await, Some(term));
    eventually("three latches", PROMPTLY, async || {
        let children = admin.children(&paths.latches()).await?;
        anyhow::ensure!(children.len() == 3, "{children:?}");
        Ok(())
    })
    .await
    .unwrap();
    assert!(admin.node(&latch).await.unwrap().is_none(), "under another name");
    close_all(&processes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b08_a_leader_alone_leads_again_in_a_new_term() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let process = start("a", &servers, &paths).await;
    let first = process.contender.wait_for_grant().await;
    let latch = process.latch();
    admin.delete(&latch).await.unwrap();
    eventually("granted anew", PROMPTLY, async || {
        anyhow::ensure!(process.contender.sessions().len() == 2);
        Ok(())
    })
    .await
    .unwrap();
    let second = process.contender.sessions()[1];
    assert_ne!(second, first);
    assert_ne!(process.latch(), latch);
    assert!(!process.service.has_leadership(first).await);
    let stale = process
        .service
        .confirm_leadership(first, Some("http://stale:1"))
        .await;
    assert!(!stale.unwrap());
    assert!(process.service.has_leadership(second).await);
    // Revoked between the two.
    let order: Vec<_> = process
        .contender
        .calls()
        .into_iter()
        .filter_map(|call| match call {
            ContenderCall::Granted { .. } => Some("granted"),
            ContenderCall::Revoked { .. } => Some("revoked"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["granted", "revoked", "granted"]);
    process.close().await;
}
