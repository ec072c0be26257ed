//! Retrieval on the server in memory: what is told, and what it costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ha_core::Error;
use ha_core::election::LeaderInformation;
use ha_core::ids::{ClusterId, ComponentId, Epoch, LeaderSessionId};
use ha_core::retrieval::{DefaultLeaderRetrievalService, LeaderRetrievalListener, LeaderRetrievalService};
use ha_testkit::fakes::{RecordingListener, TestEnvironment};
use tokio::sync::watch;
use uuid::Uuid;

use super::{LeaderWatches, ZooKeeperLeaderRetrievalDriverFactory};
use crate::client::memory::{MemoryClient, MemoryServer};
use crate::client::{CreateMode, ZooKeeperClient as _};
use crate::codec::{ConnectionInfo, IdentityData};
use crate::paths::ClusterPaths;
use crate::session::memory_session::MemorySession;

struct Rig {
    server: MemoryServer,
    memory: MemorySession,
    watches: LeaderWatches,
    test: TestEnvironment,
    tolerate: bool,
}

fn paths() -> ClusterPaths {
    ClusterPaths::new("", "/flink", &ClusterId::new("c").unwrap()).unwrap()
}

fn component() -> ComponentId {
    ComponentId::custom("scheduler").unwrap()
}

async fn rig(tolerate: bool) -> Rig {
    let component = component();
    let parent = paths().leader_of(&component);
    let server = MemoryServer::with(&["/flink", "/flink/c", "/flink/c/leader", &parent]);
    let test = TestEnvironment::real_time(1);
    let memory = MemorySession::new(&server, 1, tolerate, test.environment.clone());
    let watches = LeaderWatches::new(memory.session.clone(), paths(), test.environment.clone());
    Rig {
        server,
        memory,
        watches,
        test,
        tolerate,
    }
}

impl Rig {
    /// Somebody else's.
    fn admin(&self) -> MemoryClient {
        self.server.client(99)
    }

    fn retriever(&self) -> Arc<dyn LeaderRetrievalService> {
        let factory = ZooKeeperLeaderRetrievalDriverFactory::new(self.watches.clone(), component());
        let environment = self.test.environment.clone();
        DefaultLeaderRetrievalService::new(Arc::new(factory), self.tolerate, environment)
    }

    async fn listener(&self) -> (Arc<RecordingListener>, Arc<dyn LeaderRetrievalService>) {
        let (listener, service) = (RecordingListener::new(), self.retriever());
        listener.listen(&service).await;
        (listener, service)
    }

    /// Publishes a leader of this number.
    async fn lead(&self, number: u64) -> LeaderInformation {
        let information = LeaderInformation {
            leader_address: format!("http://leader:{number}"),
            leader_session_id: LeaderSessionId::from_bits(0, number),
            epoch: Epoch::new(number),
        };
        let path = paths().connection_info(&component());
        let data = ConnectionInfo::encode(&path, &information).unwrap();
        self.put(&path, data).await;
        information
    }

    async fn put(&self, path: &str, data: bytes::Bytes) {
        let admin = self.admin();
        if admin.set(path, data.clone(), None).await.is_err() {
            admin.create(path, data, CreateMode::Ephemeral).await.unwrap();
        }
    }

    async fn cluster(&self, uuid: u128) {
        let path = paths().identity();
        let identity = IdentityData {
            cluster_uuid: Uuid::from_u128(uuid),
            storage_dir: "memory:".to_owned(),
            created_by: "a test".to_owned(),
            tree_lost: false,
        };
        self.put(&path, identity.encode(&path).unwrap()).await;
    }

    /// How many watch the leader information.
    fn watchers(&self) -> usize {
        let path = paths().connection_info(&component());
        self.server
            .watches()
            .iter()
            .filter(|watched| **watched == path)
            .count()
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Counting {
    calls: AtomicUsize,
}

#[async_trait]
impl LeaderRetrievalListener for Counting {
    async fn notify_leader(&self, _: Option<LeaderInformation>) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    async fn handle_error(&self, _: Error) {}
}

/// What it takes to tell `count` retrievers of two leaders, one after the other.
async fn requests_of(count: usize) -> Vec<String> {
    let rig = rig(true).await;
    let mut retrievers = Vec::new();
    for _ in 0..count {
        let (listener, service) = (Arc::new(Counting::default()), rig.retriever());
        service.start(Arc::clone(&listener) as _).await.unwrap();
        retrievers.push((listener, service));
    }
    for number in 1..=2 {
        let leader = rig.lead(number).await;
        for (_, service) in &retrievers {
            let mut told = service.subscribe();
            wait_for(&mut told, Some(&leader)).await;
        }
        assert_eq!(rig.watchers(), 1);
    }
    let requests = rig.server.take_requests();
    for (_, service) in &retrievers {
        service.stop().await.unwrap();
    }
    for (listener, _) in &retrievers {
        let calls = listener.calls.load(Ordering::SeqCst);
        assert!((1..=2).contains(&calls), "told {calls} times of two leaders");
    }
    while rig.watchers() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.server.take_requests(), [""; 0], "leaving costs nothing");
    requests
}

async fn wait_for(told: &mut watch::Receiver<Option<LeaderInformation>>, leader: Option<&LeaderInformation>) {
    told.wait_for(|told| told.as_ref() == leader).await.unwrap();
}

#[tokio::test]
async fn five_thousand_retrievers_cost_no_request_more_than_one() {
    assert_eq!(requests_of(5_000).await, requests_of(1).await);
}

#[tokio::test]
async fn one_that_comes_late_costs_no_request_and_is_told_what_holds() {
    let rig = rig(true).await;
    let leader = rig.lead(1).await;
    let (first, _service) = rig.listener().await;
    first.wait_for_address(&leader.leader_address).await;
    rig.server.take_requests();
    let (second, service) = rig.listener().await;
    second.wait_for_address(&leader.leader_address).await;
    assert_eq!(rig.server.take_requests(), [""; 0]);
    service.stop().await.unwrap();
    rig.lead(2).await;
    first.wait_for_address("http://leader:2").await;
    assert_eq!(second.leaders(), [Some(leader)]);
}

#[tokio::test]
async fn a_suspension_is_invisible_where_it_is_tolerated_and_is_told_once_each_way_where_it_is_not() {
    for tolerate in [true, false] {
        let rig = rig(tolerate).await;
        let leader = rig.lead(1).await;
        let (listener, service) = rig.listener().await;
        listener.wait_for_address(&leader.leader_address).await;
        let mut told = service.subscribe();
        for _ in 0..3 {
            rig.memory.suspend().await;
            if !tolerate {
                listener.wait_for_none().await;
            }
            rig.memory.heal().await;
            wait_for(&mut told, Some(&leader)).await;
            listener.wait_for_address(&leader.leader_address).await;
        }
        // A change that is told shows that nothing else was on its way.
        rig.lead(2).await;
        listener.wait_for_address("http://leader:2").await;
        let same = if tolerate { 1 } else { 4 };
        let leaders = listener.leaders();
        let told_same = leaders
            .iter()
            .filter(|told| told.as_ref() == Some(&leader))
            .count();
        let told_none = leaders.iter().filter(|told| told.is_none()).count();
        assert_eq!((told_same, told_none), (same, same - 1), "{leaders:?}");
    }
}

#[tokio::test]
async fn after_a_loss_nobody_is_known_and_an_equal_leader_is_told_once_when_a_session_is_back() {
    for tolerate in [true, false] {
        let mut rig = rig(tolerate).await;
        let leader = rig.lead(1).await;
        let (listener, _service) = rig.listener().await;
        listener.wait_for_address(&leader.leader_address).await;
        rig.memory.expire(1).await;
        listener.wait_for_none().await;
        rig.memory.replace(2).await;
        listener.wait_for_address(&leader.leader_address).await;
        assert_eq!(listener.leaders(), [Some(leader.clone()), None, Some(leader)]);
    }
}

#[tokio::test]
async fn unreadable_information_is_nobody_and_one_error_and_the_watch_stays_armed() {
    let rig = rig(true).await;
    rig.lead(1).await;
    let (listener, _service) = rig.listener().await;
    listener.wait_for_address("http://leader:1").await;
    let path = paths().connection_info(&component());
    rig.put(&path, "{".into()).await;
    listener.wait_for_none().await;
    let error = listener.wait_for_error().await;
    assert!(error.to_string().contains(&path), "{error}");
    rig.lead(2).await;
    listener.wait_for_address("http://leader:2").await;
    assert_eq!(listener.events().len(), 4, "{:?}", listener.events());
}

#[tokio::test]
async fn an_identity_that_may_not_be_read_hides_no_leader_and_is_reported_once_by_its_own_path() {
    let rig = rig(true).await;
    rig.cluster(1).await;
    let identity = paths().identity();
    rig.server.deny_reads(Some(&identity));
    rig.lead(1).await;
    let (listener, _service) = rig.listener().await;
    listener.wait_for_address("http://leader:1").await;
    let error = listener.wait_for_error().await;
    assert!(error.to_string().contains(&identity), "{error}");
    rig.lead(2).await;
    listener.wait_for_address("http://leader:2").await;
    // A second reading goes without it too.
    rig.lead(1).await;
    listener.wait_for_address("http://leader:1").await;
    rig.server.deny_reads(None);
    rig.lead(3).await;
    listener.wait_for_address("http://leader:3").await;
    let events = listener.events();
    assert_eq!(
        events.len(),
        6,
        "four leaders, the identity, the older epoch: {events:?}"
    );
}

#[tokio::test]
async fn a_missing_node_is_watched_and_its_making_and_unmaking_are_told() {
    let rig = rig(true).await;
    let (listener, _service) = rig.listener().await;
    while rig.watchers() == 0 {
        tokio::task::yield_now().await;
    }
    for number in 1..=3 {
        let leader = rig.lead(number).await;
        listener.wait_for_address(&leader.leader_address).await;
        rig.admin()
            .delete(&paths().connection_info(&component()), None)
            .await
            .unwrap();
        listener.wait_for_none().await;
    }
    assert_eq!(listener.leaders().len(), 6);
}

#[tokio::test]
async fn another_cluster_in_the_place_of_this_one_is_reported_once_although_the_session_lives() {
    let rig = rig(true).await;
    rig.cluster(1).await;
    rig.lead(7).await;
    let (listener, _service) = rig.listener().await;
    listener.wait_for_address("http://leader:7").await;
    rig.cluster(2).await;
    rig.lead(8).await;
    listener.wait_for_address("http://leader:8").await;
    listener.wait_for_error().await;
    rig.lead(9).await;
    listener.wait_for_address("http://leader:9").await;
    assert_eq!(listener.events().len(), 4, "{:?}", listener.events());
}

#[tokio::test]
async fn an_older_leader_is_told_after_a_second_reading_and_reported_once() {
    let rig = rig(true).await;
    rig.lead(7).await;
    let (listener, _service) = rig.listener().await;
    listener.wait_for_address("http://leader:7").await;
    rig.lead(3).await;
    listener.wait_for_address("http://leader:3").await;
    listener.wait_for_error().await;
    rig.lead(4).await;
    listener.wait_for_address("http://leader:4").await;
    assert_eq!(listener.events().len(), 4, "{:?}", listener.events());
}
