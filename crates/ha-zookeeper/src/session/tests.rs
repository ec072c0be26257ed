use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::{Clock as _, RandomIdSource, SystemClock};
use ha_core::ids::LeaderSessionId;
use ha_core::lease::{LeadershipGate, LeaseTerms};
use tokio::sync::watch;
use zookeeper_client::SessionState;

use super::SessionStatus;
use super::activity::Activity;
use super::client_states::Told;
use super::heartbeat::{Heartbeat, LeaseProof, ProofSlot};
use super::observed_client::ObservedClient;
use crate::client::memory::{Lost, MemoryServer};
use crate::client::{CreateMode, Operation, SessionId, ZkCode, ZooKeeperClient};
use crate::fence::{Fence, LeadershipFence};

/// Longer than any machine stalls: no lease here is to end by time.
const T: Duration = Duration::from_secs(3600);

struct Rig {
    server: MemoryServer,
    gate: Arc<LeadershipGate>,
    activity: Arc<Activity>,
    observed: Arc<dyn ZooKeeperClient>,
    terms: LeaseTerms,
    states: watch::Sender<SessionState>,
}

impl Rig {
    fn reconnect(&self) {
        self.states.send_replace(SessionState::Disconnected);
        self.states.send_replace(SessionState::SyncConnected);
    }

    fn heartbeat<'a>(&self, slot: &'a ProofSlot) -> Heartbeat<'a> {
        Heartbeat {
            client: Arc::clone(&self.observed),
            activity: Arc::clone(&self.activity),
            slot,
            terms: self.terms,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIdSource),
            status: watch::channel(SessionStatus::INITIAL).1,
        }
    }
}

/// A session that was attached to, so that only what is observed brings a lease; the tick is as good as none.
fn rig() -> Rig {
    rig_with(1)
}

/// The same with a client that is given the session `actual` where it believes to have 1.
fn rig_with(actual: i64) -> Rig {
    let clock: Arc<SystemClock> = Arc::new(SystemClock);
    let gate = Arc::new(LeadershipGate::new(Arc::<SystemClock>::clone(&clock)));
    let terms = LeaseTerms::new(T, Some(Duration::from_nanos(1))).unwrap();
    let lease = gate.session_reattached(terms);
    let server = MemoryServer::with(&["/latch"]);
    let (states, told) = watch::channel(SessionState::SyncConnected);
    let activity = Arc::new(Activity::new(Arc::clone(&gate), lease, Told(told)));
    let observed = Arc::new(ObservedClient::new(
        Arc::new(server.swapped_client(1, actual)),
        clock,
        Arc::clone(&activity),
    ));
    Rig {
        server,
        gate,
        activity,
        observed,
        terms,
        states,
    }
}

fn fence(version: i32) -> Fence {
    Fence {
        latch_path: "/latch".to_owned(),
        version,
        session: LeaderSessionId::from_bits(0, 1),
        zookeeper_session: SessionId(1),
    }
}

#[tokio::test]
async fn reads_are_heartbeats_and_only_an_applied_write_makes_them_count() {
    let rig = rig();
    rig.observed.get("/latch").await.unwrap();
    rig.observed.sync("/").await.unwrap();
    assert!(!rig.gate.lease_holds());
    // Refused: answered, and no proof.
    let refused = rig.observed.multi(vec![fence(5).check()]).await;
    assert!(refused.is_err());
    assert!(!rig.gate.lease_holds());
    rig.observed.multi(vec![fence(0).check()]).await.unwrap();
    assert!(rig.gate.lease_holds());
}

#[tokio::test]
async fn an_operation_that_fails_by_loss_is_seen() {
    let rig = rig();
    let losses = rig.activity.losses();
    let before = SystemClock.now();
    rig.server.lose_next_reply(Lost::Applied);
    assert!(rig.observed.set("/latch", "x".into(), None).await.is_err());
    assert!(losses.borrow().is_some_and(|sent| sent >= before));
    assert!(!rig.gate.lease_holds());
}

#[tokio::test]
async fn answers_after_the_session_are_worth_nothing() {
    let rig = rig();
    rig.gate.session_reattached(rig.terms);
    rig.observed.sync("/").await.unwrap();
    rig.observed.multi(vec![fence(0).check()]).await.unwrap();
    assert!(!rig.gate.lease_holds());
}

/// Lets the heartbeat send once.
async fn beat_once(rig: &Rig, slot: &ProofSlot) -> Vec<String> {
    let mut beating = Box::pin(rig.heartbeat(slot).beat());
    assert!(futures::poll!(&mut beating).is_pending());
    rig.server.take_requests()
}

#[tokio::test]
async fn standbys_sync_and_the_leader_checks_its_latch() {
    let rig = rig();
    let slot = ProofSlot::default();
    assert_eq!(beat_once(&rig, &slot).await, ["sync"]);
    let refusals = LeadershipFence::new();
    let mut seen = refusals.refusals();
    slot.set(Some(LeaseProof {
        fence: fence(0),
        refusals: refusals.clone(),
    }));
    assert_eq!(beat_once(&rig, &slot).await, ["multi"]);
    assert!(rig.gate.lease_holds());
    assert!(seen.latest().is_none());
    // An operator set the latch: the next proof tells the election.
    rig.server
        .client(9)
        .apply(&[Operation::Set {
            path: "/latch".to_owned(),
            data: "step down".into(),
            version: None,
        }])
        .unwrap();
    beat_once(&rig, &slot).await;
    let refusal = seen.latest().clone().unwrap();
    assert_eq!(
        (refusal.session, refusal.code),
        (fence(0).session, ZkCode::BadVersion)
    );
}

#[tokio::test]
async fn answers_over_a_connection_that_may_be_of_another_session_do_not_prolong_the_lease() {
    let rig = rig();
    rig.observed.sync("/").await.unwrap();
    rig.reconnect();
    rig.observed.sync("/").await.unwrap();
    rig.observed.multi(vec![fence(0).check()]).await.unwrap();
    rig.observed.set("/latch", "x".into(), None).await.unwrap();
    assert!(!rig.gate.lease_holds());
}

#[tokio::test]
async fn a_connection_that_was_made_again_is_asked_for_its_session_and_its_answers_count_then() {
    let rig = rig();
    rig.observed.sync("/").await.unwrap();
    rig.server.take_requests();
    let slot = ProofSlot::default();
    slot.set(Some(LeaseProof {
        fence: fence(0),
        refusals: LeadershipFence::new(),
    }));
    slot.set_session_check("/session".to_owned());
    rig.reconnect();
    assert_eq!(beat_once(&rig, &slot).await, ["multi"]);
    assert!(rig.gate.lease_holds(), "the answer is a proof itself");
    assert_eq!(rig.server.paths(), ["/latch"], "nothing is left");
    // Asked once a connection.
    slot.set(None);
    assert_eq!(beat_once(&rig, &slot).await, ["sync"]);
}

#[tokio::test]
async fn a_node_that_somebody_left_under_the_name_of_the_check_does_not_keep_it_from_its_answer() {
    let rig = rig();
    let squatter = Operation::Create {
        path: "/session".to_owned(),
        data: "mine".into(),
        mode: CreateMode::Persistent,
    };
    rig.server.client(9).apply(&[squatter]).unwrap();
    let slot = ProofSlot::default();
    slot.set_session_check("/session".to_owned());
    rig.reconnect();
    assert_eq!(beat_once(&rig, &slot).await, ["multi"]);
    assert!(rig.activity.is_identified());
    assert_eq!(rig.server.paths(), ["/latch", "/session"]);
}

#[tokio::test]
async fn what_a_new_connection_answered_counts_one_tick_later_and_not_one_interval() {
    let terms = LeaseTerms::new(Duration::from_secs(3600), Some(Duration::from_millis(1))).unwrap();
    let rig = Rig { terms, ..rig() };
    // As after a suspension: nothing of before counts, and what is to come needs a tick.
    let lease = rig.gate.session_reattached(terms);
    let (states, told) = watch::channel(SessionState::SyncConnected);
    let activity = Arc::new(Activity::new(Arc::clone(&rig.gate), lease, Told(told)));
    let observed = ObservedClient::new(
        Arc::new(rig.server.client(1)),
        Arc::new(SystemClock),
        Arc::clone(&activity),
    );
    let rig = Rig {
        activity,
        observed: Arc::new(observed),
        states,
        ..rig
    };
    let slot = ProofSlot::default();
    slot.set(Some(LeaseProof {
        fence: fence(0),
        refusals: LeadershipFence::new(),
    }));
    slot.set_session_check("/session".to_owned());
    rig.reconnect();
    tokio::select! {
        _ = rig.heartbeat(&slot).beat() => unreachable!("it is the same session"),
        () = rig.gate.lease_begun() => {}
    }
    assert_eq!(rig.server.take_requests(), ["multi", "multi"]);
}

#[tokio::test]
async fn standbys_ask_for_the_session_too() {
    let rig = rig();
    let slot = ProofSlot::default();
    slot.set_session_check("/session".to_owned());
    rig.reconnect();
    assert_eq!(beat_once(&rig, &slot).await, ["multi"]);
    assert!(rig.activity.is_identified());
}

#[tokio::test]
async fn b52_another_session_in_the_place_of_this_one_is_found_at_the_reconnect() {
    let rig = rig_with(2);
    let slot = ProofSlot::default();
    slot.set(Some(LeaseProof {
        fence: fence(0),
        refusals: LeadershipFence::new(),
    }));
    slot.set_session_check("/session".to_owned());
    rig.reconnect();
    assert_eq!(rig.heartbeat(&slot).beat().await, SessionId(2));
    assert!(!rig.gate.lease_holds());
}

#[tokio::test]
async fn an_answer_that_came_over_an_earlier_connection_says_nothing_of_the_present_one() {
    let rig = rig();
    rig.reconnect();
    let connection = rig.activity.connection();
    rig.reconnect();
    rig.activity.identify(connection.unwrap());
    assert!(!rig.activity.is_identified());
}
