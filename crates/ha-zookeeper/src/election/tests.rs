//! Elections on the server in memory: what a process asks of the server, and what a contender is told.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::election::{DefaultLeaderElectionService, LeaderElectionService};
use ha_core::environment::Environment;
use ha_core::health::ConnectionState;
use ha_core::ids::{ClusterId, ComponentId};
use ha_testkit::fakes::{Behaviour, ContenderCall, Gate, Recorder, RecordingContender, TestEnvironment};

use super::ZooKeeperLeaderElectionDriverFactory;
use crate::client::memory::{Lost, MemoryServer};
use crate::client::{ClientSource as _, ZooKeeperClient as _};
use crate::codec::LatchData;
use crate::fence::LeadershipFence;
use crate::identity::LeadershipPrecondition;
use crate::latch::{LatchDecision, decide};
use crate::paths::ClusterPaths;
use crate::session::memory_session::MemorySession;

mod faults;

const REVOKE_TIMEOUT: Duration = Duration::from_secs(30);

struct Always;

#[async_trait]
impl LeadershipPrecondition for Always {
    async fn ensure(&self) -> ha_core::Result<()> {
        Ok(())
    }
}

fn paths() -> ClusterPaths {
    ClusterPaths::new("", "/flink", &ClusterId::new("c").unwrap()).unwrap()
}

fn server() -> MemoryServer {
    MemoryServer::with(&["/flink", "/flink/c", "/flink/c/leader", "/flink/c/leader/latch"])
}

fn factory(
    memory: &MemorySession,
    number: i64,
    environment: &Environment,
    precondition: Arc<dyn LeadershipPrecondition>,
) -> ZooKeeperLeaderElectionDriverFactory {
    ZooKeeperLeaderElectionDriverFactory::new(
        memory.session.clone(),
        paths(),
        LeadershipFence::new(),
        LatchData {
            process: number.to_string(),
            host: "localhost".to_owned(),
            pid: 1,
            tool: None,
            leader_session_id: None,
        },
        precondition,
        environment.clone(),
    )
}

/// One process, which contends for one component.
struct Process {
    memory: MemorySession,
    election: Arc<DefaultLeaderElectionService>,
    service: Arc<dyn LeaderElectionService>,
    contender: Arc<RecordingContender>,
}

impl Process {
    async fn start(server: &MemoryServer, number: i64, tolerate: bool, component: ComponentId) -> Self {
        let environment = TestEnvironment::real_time(number.unsigned_abs()).environment;
        let contender = RecordingContender::confirming(&format!("http://{number}:1"));
        Self::start_in(server, number, tolerate, component, environment, contender).await
    }

    async fn start_in(
        server: &MemoryServer,
        number: i64,
        tolerate: bool,
        component: ComponentId,
        environment: Environment,
        contender: Arc<RecordingContender>,
    ) -> Self {
        let memory = MemorySession::new(server, number, tolerate, environment.clone());
        let factory = factory(&memory, number, &environment, Arc::new(Always));
        Self::start_by(memory, factory, component, environment, contender).await
    }

    async fn start_by(
        memory: MemorySession,
        factory: ZooKeeperLeaderElectionDriverFactory,
        component: ComponentId,
        environment: Environment,
        contender: Arc<RecordingContender>,
    ) -> Self {
        let election = DefaultLeaderElectionService::new(Arc::new(factory), environment, REVOKE_TIMEOUT);
        let process = Self {
            memory,
            service: election.election(component),
            election,
            contender,
        };
        process.contender.contend(&process.service).await;
        process
    }

    /// How often it was granted, and revoked.
    fn terms(&self) -> (usize, usize) {
        let calls = self.contender.calls();
        let revoked = calls
            .iter()
            .filter(|call| matches!(call, ContenderCall::Revoked { .. }));
        (self.contender.sessions().len(), revoked.count())
    }

    async fn wait_for_revokes(&self, count: usize) {
        while self.terms().1 < count {
            tokio::task::yield_now().await;
        }
    }
}

/// `count` processes, in the order in which they will lead, at rest.
async fn at_rest(server: &MemoryServer, count: usize) -> Vec<Process> {
    let mut processes = Vec::new();
    for number in 1..=count {
        let number = i64::try_from(number).unwrap();
        processes.push(Process::start(server, number, true, ComponentId::dispatcher()).await);
        wait_for_watches(server, 2 * processes.len()).await;
    }
    processes
}

/// At rest each process watches its own latch; each but the first its predecessor; the first its leader information.
async fn wait_for_watches(server: &MemoryServer, count: usize) {
    while server.watches().len() != count {
        tokio::task::yield_now().await;
    }
}

/// What all processes together ask for while the first of `count` hands over to the second.
async fn hand_over(count: usize) -> Vec<String> {
    let server = server();
    let processes = at_rest(&server, count).await;
    server.take_requests();
    processes[0].election.close().await.unwrap();
    processes[1].contender.wait_for_grant().await;
    wait_for_watches(&server, 2 * (count - 1)).await;
    let mut requests = server.take_requests();
    requests.sort_unstable();
    requests
}

#[tokio::test]
async fn each_waiting_process_watches_only_its_predecessor_and_itself() {
    let server = server();
    let _processes = at_rest(&server, 50).await;
    let (names, _) = server.client(99).list(&paths().latches()).await.unwrap();
    assert_eq!(names.len(), 50);
    let watches = server.watches();
    let watchers = |name: &str| {
        let path = paths().latch(name);
        watches.iter().filter(|watched| **watched == path).count()
    };
    let behind: Vec<_> = names
        .iter()
        .filter_map(|name| match decide(&names, name) {
            LatchDecision::Behind(predecessor) => Some(predecessor),
            _ => None,
        })
        .collect();
    for name in &names {
        let followers = behind.iter().filter(|predecessor| *predecessor == name).count();
        assert!(followers <= 1);
        assert_eq!(watchers(name), 1 + followers, "{name}");
    }
    assert!(!watches.contains(&paths().latches()), "nobody watches the list");
}

#[tokio::test]
async fn a_hand_over_costs_the_same_however_many_processes_wait() {
    let few = hand_over(3).await;
    assert_eq!(hand_over(50).await, few);
    // The leader: what it deletes is read in one round trip, and deleted. The next one: list and claim together, then it
    // publishes. The others: its follower reads it once more.
    let count = |name: &str| few.iter().filter(|request| *request == name).count();
    assert_eq!(
        (count("list"), count("set"), count("multi")),
        (1, 1, 2),
        "{few:?}"
    );
}

#[tokio::test]
async fn a_waiting_process_that_leaves_is_noticed_by_its_follower_alone() {
    let mut costs = Vec::new();
    for count in [5, 50] {
        let server = server();
        let processes = at_rest(&server, count).await;
        server.take_requests();
        processes[2].election.close().await.unwrap();
        wait_for_watches(&server, 2 * (count - 1)).await;
        let mut requests = server.take_requests();
        requests.sort_unstable();
        costs.push(requests);
        assert_eq!(processes[0].terms(), (1, 0));
        assert!(processes[3].contender.sessions().is_empty());
    }
    assert_eq!(costs[0], costs[1]);
}

#[tokio::test]
async fn without_tolerance_each_suspension_is_one_revoke_and_each_healing_one_grant() {
    let server = server();
    let process = Process::start(&server, 1, false, ComponentId::dispatcher()).await;
    process.contender.wait_for_grant().await;
    for round in 1..=5 {
        process.memory.suspend().await;
        process.wait_for_revokes(round).await;
        assert_eq!(process.terms(), (round, round));
        process.memory.heal().await;
        process.contender.wait_for_grants(round + 1).await;
    }
    process.election.close().await.unwrap();
    assert_eq!(process.terms(), (6, 6));
    let mut sessions = process.contender.sessions();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 6, "each term has an id of its own");
}

#[tokio::test]
async fn without_tolerance_an_operation_that_failed_by_loss_is_a_suspension() {
    let server = server();
    let process = Process::start(&server, 1, false, ComponentId::dispatcher()).await;
    process.contender.wait_for_grant().await;
    let client = process.memory.session.client().await.unwrap();
    server.lose_next_reply(Lost::NotApplied);
    assert!(client.set("/flink", "x".into(), None).await.is_err());
    process.contender.wait_for_grants(2).await;
    process.election.close().await.unwrap();
    assert_eq!(process.terms(), (2, 2));
}

#[tokio::test]
async fn with_tolerance_a_suspension_that_heals_in_time_is_the_same_term() {
    let server = server();
    let process = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    let term = process.contender.wait_for_grant().await;
    for _ in 0..5 {
        process.memory.suspend().await;
        assert!(process.service.has_leadership(term).await);
        process.memory.heal().await;
        assert!(process.service.has_leadership(term).await);
    }
    process.election.close().await.unwrap();
    assert_eq!(process.terms(), (1, 1));
}

#[tokio::test]
async fn a_session_that_expired_ends_the_term_and_the_next_one_leads_anew_with_another_latch() {
    let server = server();
    let mut process = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    let first = process.contender.wait_for_grant().await;
    process.memory.expire(1).await;
    assert!(!process.service.has_leadership(first).await);
    process.wait_for_revokes(1).await;
    process.memory.replace(2).await;
    let second = process.contender.wait_for_grants(2).await;
    assert_ne!(first, second);
    let (names, _) = server.client(99).list(&paths().latches()).await.unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[tokio::test]
async fn closing_the_session_is_the_last_thing_and_leaves_no_ephemeral() {
    let server = server();
    let process = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    process.contender.wait_for_grant().await;
    process.election.close().await.unwrap();
    process.memory.session.close().await;
    let status = process.memory.session.status().latest();
    assert!(status.closed && status.state == ConnectionState::Lost);
    let left = server.paths();
    assert!(
        left.iter()
            .all(|path| !path.contains("-latch-") && !path.ends_with("connection_info")),
        "{left:?}"
    );
}

#[tokio::test]
async fn a_component_of_the_users_own_is_elected_and_published_like_any_other() {
    let server = server();
    let component = ComponentId::custom("scheduler").unwrap();
    let process = Process::start(&server, 1, true, component.clone()).await;
    let term = process.contender.wait_for_grant().await;
    assert!(process.service.has_leadership(term).await);
    let path = paths().connection_info(&component);
    while !server.paths().contains(&path) {
        tokio::task::yield_now().await;
    }
    process.service.stop().await.unwrap();
    assert!(!server.paths().contains(&path));
}

/// An operator's request to step down.
async fn touch(server: &MemoryServer, latch: &str) {
    let admin = server.client(99);
    admin
        .set(&paths().latch(latch), "step down".into(), None)
        .await
        .unwrap();
}

/// The latches in the order of their numbers.
async fn latches(server: &MemoryServer) -> Vec<String> {
    let (mut names, _) = server.client(99).list(&paths().latches()).await.unwrap();
    names.sort_by_key(|name| ClusterPaths::parse_latch_name(name).map(|(_, sequence)| sequence));
    names
}

#[tokio::test]
async fn a_standby_that_is_asked_to_step_down_stands_anew_at_the_end() {
    let server = server();
    let processes = at_rest(&server, 3).await;
    let before = latches(&server).await;
    touch(&server, &before[1]).await;
    let after = loop {
        let after = latches(&server).await;
        if after.len() == 3 && !after.contains(&before[1]) {
            break after;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(after[..2], [before[0].clone(), before[2].clone()]);
    wait_for_watches(&server, 6).await;
    assert_eq!(processes[0].terms(), (1, 0));
    // The one that was last is the next.
    processes[0].election.close().await.unwrap();
    processes[2].contender.wait_for_grant().await;
    assert!(processes[1].contender.sessions().is_empty());
}

#[tokio::test]
async fn a_leader_that_is_asked_to_step_down_keeps_its_latch_until_its_callbacks_have_returned_or_the_deadline()
 {
    for returns in [true, false] {
        let server = server();
        let test = TestEnvironment::manual(1);
        let gate = Gate::new();
        let blocking = RecordingContender::with(
            "http://1:1",
            &Recorder::new(),
            Behaviour::Confirm,
            Behaviour::Block(gate.clone()),
        );
        let component = ComponentId::dispatcher();
        let environment = test.environment.clone();
        let first = Process::start_in(&server, 1, true, component.clone(), environment, blocking).await;
        let term = first.contender.wait_for_grant().await;
        wait_for_watches(&server, 2).await;
        let second = Process::start(&server, 2, true, component).await;
        wait_for_watches(&server, 4).await;
        let before = latches(&server).await;
        touch(&server, &before[0]).await;
        first.wait_for_revokes(1).await;
        assert!(!first.service.has_leadership(term).await);
        assert!(
            latches(&server).await.contains(&before[0]),
            "nobody else may lead yet"
        );
        assert!(second.contender.sessions().is_empty());
        if returns {
            gate.open();
        } else {
            // Whatever sleeps until then, the deadline is among it.
            while test.fatal.errors().is_empty() {
                test.clock.advance(REVOKE_TIMEOUT);
                tokio::task::yield_now().await;
            }
        }
        second.contender.wait_for_grant().await;
        let after = latches(&server).await;
        assert_eq!(after[0], before[1]);
        assert_eq!(test.fatal.errors().is_empty(), returns);
        gate.open();
    }
}
