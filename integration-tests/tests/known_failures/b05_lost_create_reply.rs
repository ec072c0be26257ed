//! B05. Symptom: two latches of one session that lives; the lower one belongs to nobody, so everybody waits for it
//! for ever.
//!
//! Provoked: the reply of the latch's creation is lost and the connection with it; or the request is, which looks
//! the same to the client. The same session comes back to the same server, or to another one of the ensemble.
//!
//! Right: `sync`, list, and adopt the latch with the own uuid and session: exactly one stands, and it leads.
//!
//! Sources: Netflix/curator#3, CURATOR-45 (curator#566), CURATOR-264 (curator#784), bonifaido/rust-zookeeper#20 and
//! #69.

use std::time::Duration;

use ha_zookeeper::paths::ClusterPaths;
use integration_tests::proxy::{FaultProxy, RequestKind};
use integration_tests::{AdminClient, Ensemble, EnsembleOptions};

use crate::zookeeper::{Process, creation_of_a_latch, new_cluster, options, wait_until_leads};

const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(20);

/// A process that does not contend yet; the parents are there, so that its latch can be made at once.
async fn before_the_latch(servers: &str, admin: &AdminClient) -> (ClusterPaths, Process) {
    let paths = new_cluster();
    let process = Process::connect("a", &paths, options(servers, TIMEOUT)).await;
    admin.create(&paths.latches(), b"").await.unwrap();
    (paths, process)
}

/// It leads by the only latch that stands, in the session that it had.
async fn assert_one_latch(process: &Process, session: i64, admin: &AdminClient) {
    wait_until_leads(process, LONG).await;
    // The test's own session may be on a server that lags.
    admin.client().sync(&process.paths.latches()).await.unwrap();
    let latches = admin.children(&process.paths.latches()).await.unwrap();
    assert_eq!(latches, [process.latch().rsplit('/').next().unwrap()]);
    let latch = admin.node(&process.latch()).await.unwrap().unwrap();
    assert_eq!(latch.stat.ephemeral_owner, session);
    assert_eq!(process.session.status().latest().session.unwrap().0, session);
}

#[tokio::test(flavor = "multi_thread")]
async fn b05_a_latch_whose_create_reply_was_lost_is_adopted() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    for applied in [true, false] {
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let (paths, process) = before_the_latch(&proxy.address(), &admin).await;
        let session = process.session.status().latest().session.unwrap().0;
        let lost = match applied {
            true => proxy.swallow_reply_and_cut(creation_of_a_latch(&paths), 1),
            false => proxy.swallow_request_and_cut(creation_of_a_latch(&paths), 1),
        };
        process.contender.contend(&process.service).await;
        lost.happened().await.unwrap();
        assert_one_latch(&process, session, &admin).await;
        let made = admin.node(&paths.latches()).await.unwrap().unwrap().stat.cversion;
        assert_eq!(made, 1, "one latch was ever made");
        process.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b05_a_latch_whose_create_reply_was_lost_is_adopted_through_another_server() {
    let ensemble = Ensemble::start(EnsembleOptions::three()).await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let mut proxies = Vec::new();
    for server in servers.split(',').take(2) {
        proxies.push(FaultProxy::start(server).await.unwrap());
    }
    let addresses: Vec<_> = proxies.iter().map(FaultProxy::address).collect();
    let (paths, process) = before_the_latch(&addresses.join(","), &admin).await;
    let session = process.session.status().latest().session.unwrap().0;
    // Whichever it is connected to.
    let present = proxies
        .iter()
        .position(|proxy| proxy.seen(RequestKind::Connect) > 0)
        .unwrap();
    let other = 1 - present;
    let before = proxies[other].seen(RequestKind::Connect);
    let lost = proxies[present].swallow_reply_and_cut(creation_of_a_latch(&paths), 1);
    proxies[present].refuse(true);
    process.contender.contend(&process.service).await;
    lost.happened().await.unwrap();
    assert_one_latch(&process, session, &admin).await;
    assert!(
        proxies[other].seen(RequestKind::Connect) > before,
        "it came back to the same server"
    );
    process.close().await;
}
