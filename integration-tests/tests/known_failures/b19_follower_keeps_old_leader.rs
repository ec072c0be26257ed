//! B19. Symptom: a worker that is cut off from ZooKeeper misses a change of the leader and goes on talking to the
//! old one; or it is never told that the leader is the same, and stays idle.
//!
//! Provoked: only the retrievers' process is cut off, for a moment and for longer than its session; it heals with
//! another leader, and with the same one.
//!
//! Right: without tolerance a suspension tells nobody, and healing tells the leader, exactly once, be it the same.
//! With tolerance a suspension tells nothing and the leader is kept; healing tells one that changed, exactly once
//! (one that is the same was never taken back, so there is nothing to tell). A loss tells nobody in both, and
//! healing the leader, exactly once.
//!
//! Sources: FLINK-18677 (flink#13055), FLINK-19557 (flink#13725), python-zk/kazoo#29 and #151,
//! bonifaido/rust-zookeeper#98 and #99.

use std::sync::Arc;
use std::time::Duration;

use ha_core::health::ConnectionState;
use ha_core::retrieval::LeaderRetrievalService;
use ha_testkit::fakes::RecordingListener;
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::proxy::FaultProxy;
use integration_tests::{Ensemble, eventually, scaled, unstalled_case};

use crate::zookeeper::{AT_ONCE, Process, new_cluster, options, wait_until_leads};

const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(40);

/// A process behind a proxy that follows the dispatcher, with tolerance of suspensions and without.
struct Follower {
    proxy: FaultProxy,
    process: Process,
    listeners: [(Arc<RecordingListener>, Arc<dyn LeaderRetrievalService>); 2],
}

const STRICT: usize = 0;
const TOLERANT: usize = 1;

impl Follower {
    async fn new(servers: &str, paths: &ClusterPaths, timeout: Duration) -> Self {
        let proxy = FaultProxy::start(servers).await.unwrap();
        let process = Process::connect("follower", paths, options(&proxy.address(), timeout)).await;
        let mut listeners = Vec::new();
        for tolerate_suspended in [false, true] {
            let listener = RecordingListener::new();
            let service = process.retriever(tolerate_suspended);
            listener.listen(&service).await;
            listeners.push((listener, service));
        }
        Self {
            proxy,
            process,
            listeners: listeners.try_into().ok().unwrap(),
        }
    }

    async fn all_know(&self, address: &str) {
        for (listener, service) in &self.listeners {
            listener.wait_for_address(address).await;
            let known = service.subscribe().borrow().clone();
            assert_eq!(known.map(|known| known.leader_address).as_deref(), Some(address));
        }
    }

    /// Cuts it off, until its client knows it is.
    async fn cut_off(&self) {
        self.proxy.hold_both(true);
        self.proxy.cut();
        self.reaches(ConnectionState::Suspended).await;
        self.listeners[STRICT].0.wait_for_none().await;
    }

    fn heal(&self) {
        self.proxy.cut();
        self.proxy.hold_both(false);
    }

    async fn reaches(&self, state: ConnectionState) {
        eventually("the connection's state is told", LONG, async || {
            let status = self.process.session.status().latest();
            anyhow::ensure!(status.state == state, "{status:?}");
            Ok(())
        })
        .await
        .unwrap();
    }

    /// What each was told, an address or `-` for nobody, since each was first told of a leader.
    fn told(&self, index: usize) -> Vec<String> {
        let leaders = self.listeners[index].0.leaders();
        leaders
            .into_iter()
            .skip_while(Option::is_none)
            .map(|leader| leader.map_or("-".to_owned(), |leader| leader.leader_address))
            .collect()
    }

    async fn close(self) {
        for (_, service) in &self.listeners {
            service.stop().await.unwrap();
        }
        self.process.close().await;
    }
}

/// Another address of the leader, so that what was told before it can be counted.
async fn readdress(leader: &Process, address: &str) {
    let term = leader.term().await.unwrap();
    let confirmed = leader.service.confirm_leadership(term, Some(address)).await;
    assert!(confirmed.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_after_a_suspension_the_same_leader_is_told_once_to_who_was_told_nobody() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let paths = new_cluster();
    let leader = Process::start("x", &paths, options(&servers, TIMEOUT)).await;
    let follower = Follower::new(&servers, &paths, TIMEOUT).await;
    follower.all_know("http://x:1").await;
    for _ in 0..2 {
        follower.cut_off().await;
        let kept = follower.listeners[TOLERANT].1.subscribe().borrow().clone();
        assert_eq!(
            kept.map(|kept| kept.leader_address).as_deref(),
            Some("http://x:1")
        );
        follower.heal();
        follower.all_know("http://x:1").await;
        follower.reaches(ConnectionState::Connected).await;
    }
    readdress(&leader, "http://x:2").await;
    follower.all_know("http://x:2").await;
    let (x, y) = ("http://x:1", "http://x:2");
    assert_eq!(follower.told(STRICT), [x, "-", x, "-", x, y]);
    assert_eq!(follower.told(TOLERANT), [x, y]);
    follower.close().await;
    leader.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_after_a_suspension_another_leader_is_told_once() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let paths = new_cluster();
    let leader = Process::start("x", &paths, options(&servers, TIMEOUT)).await;
    let follower = Follower::new(&servers, &paths, TIMEOUT).await;
    follower.all_know("http://x:1").await;
    follower.cut_off().await;
    let next = Process::start("y", &paths, options(&servers, TIMEOUT)).await;
    leader.close().await;
    wait_until_leads(&next, AT_ONCE).await;
    next.contender
        .wait_for_call("confirmed", |call| {
            *call == ha_testkit::fakes::ContenderCall::Confirmed(Some(true))
        })
        .await;
    follower.heal();
    follower.all_know("http://y:1").await;
    readdress(&next, "http://y:2").await;
    follower.all_know("http://y:2").await;
    let (x, y, z) = ("http://x:1", "http://y:1", "http://y:2");
    assert_eq!(follower.told(STRICT), [x, "-", y, z]);
    assert_eq!(follower.told(TOLERANT), [x, y, z]);
    follower.close().await;
    next.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b19_after_a_loss_the_same_leader_is_told_once_to_all() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let paths = new_cluster();
        let leader = Process::start("x", &paths, options(&servers, TIMEOUT)).await;
        let follower = Follower::new(&servers, &paths, scaled(Duration::from_secs(8))).await;
        follower.all_know("http://x:1").await;
        follower.cut_off().await;
        follower.reaches(ConnectionState::Lost).await;
        for (listener, service) in &follower.listeners {
            listener.wait_for_none().await;
            assert_eq!(*service.subscribe().borrow(), None);
        }
        follower.heal();
        follower.all_know("http://x:1").await;
        readdress(&leader, "http://x:2").await;
        follower.all_know("http://x:2").await;
        let (x, y) = ("http://x:1", "http://x:2");
        for index in [STRICT, TOLERANT] {
            assert_eq!(follower.told(index), [x, "-", x, y]);
        }
        follower.close().await;
        leader.close().await;
    })
    .await;
}
