use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::{Clock as _, SystemClock};
use ha_core::ids::LeaderSessionId;
use ha_core::lease::{LeadershipGate, LeaseTerms};

use super::activity::Activity;
use super::heartbeat::{self, LeaseProof, ProofSlot};
use super::observed_client::ObservedClient;
use crate::client::memory::{Lost, MemoryServer};
use crate::client::{Operation, SessionId, ZkCode, ZooKeeperClient};
use crate::fence::{Fence, LeadershipFence};

const T: Duration = Duration::from_secs(4);

struct Rig {
    server: MemoryServer,
    gate: Arc<LeadershipGate>,
    activity: Arc<Activity>,
    observed: Arc<dyn ZooKeeperClient>,
    terms: LeaseTerms,
}

/// A session that was attached to, so that only what is observed brings a lease; the tick is as good as none.
fn rig() -> Rig {
    let clock: Arc<SystemClock> = Arc::new(SystemClock);
    let gate = Arc::new(LeadershipGate::new(Arc::<SystemClock>::clone(&clock)));
    let terms = LeaseTerms::new(T, Some(Duration::from_nanos(1))).unwrap();
    let lease = gate.session_reattached(terms);
    let server = MemoryServer::with(&["/latch"]);
    let activity = Arc::new(Activity::new(Arc::clone(&gate), lease));
    let observed = Arc::new(ObservedClient::new(
        Arc::new(server.client(1)),
        clock,
        Arc::clone(&activity),
    ));
    Rig {
        server,
        gate,
        activity,
        observed,
        terms,
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
    let beating = heartbeat::beat(Arc::clone(&rig.observed), slot, rig.terms, Arc::new(SystemClock));
    let mut beating = Box::pin(beating);
    assert!(futures::poll!(&mut beating).is_pending());
    rig.server.take_requests()
}

#[tokio::test]
async fn standbys_sync_and_the_leader_checks_its_latch() {
    let rig = rig();
    let slot = ProofSlot::default();
    assert_eq!(beat_once(&rig, &slot).await, ["sync"]);
    let refusals = LeadershipFence::new();
    let seen = refusals.refusals();
    slot.set(Some(LeaseProof {
        fence: fence(0),
        refusals: refusals.clone(),
    }));
    assert_eq!(beat_once(&rig, &slot).await, ["multi"]);
    assert!(rig.gate.lease_holds());
    assert!(seen.borrow().is_none());
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
    let refusal = seen.borrow().clone().unwrap();
    assert_eq!(
        (refusal.session, refusal.code),
        (fence(0).session, ZkCode::BadVersion)
    );
}
