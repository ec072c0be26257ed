//! The contract of [`LeaderRetrievalService`]: the latest leader always, intermediate ones maybe.
//!
//! The subject is the services of a process, as in [`leader_election`](super::leader_election).

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::election::LeaderElectionService;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};
use ha_core::services::HighAvailabilityServices;

use super::macros::cases;
use super::{Entry, Fixture};
use crate::condition::{eventually, within_limit};
use crate::fakes::{Gate, ListenerBehaviour, ListenerEvent, RecordingContender, RecordingListener};

type Subject = Arc<dyn HighAvailabilityServices>;

fn component() -> ComponentId {
    ComponentId::rest_server()
}

/// A leader, in a process of its own.
struct Leader {
    _process: Subject,
    election: Arc<dyn LeaderElectionService>,
    session: LeaderSessionId,
    // The service does not keep it alive for the recording.
    _contender: Arc<RecordingContender>,
}

impl Leader {
    /// Leads a component and confirms the address.
    async fn of<F: Fixture<Subject = Subject>>(fixture: &F, component: ComponentId, address: &str) -> Self {
        let process = fixture.open().await;
        let election = process.leader_election(component);
        let contender = RecordingContender::confirming(address);
        contender.contend(&election).await;
        Self {
            session: contender.wait_for_grant().await,
            _process: process,
            election,
            _contender: contender,
        }
    }

    async fn confirm(&self, address: &str) {
        let confirmed = self
            .election
            .confirm_leadership(self.session, Some(address))
            .await;
        assert!(confirmed.unwrap());
    }
}

async fn follow(process: &Subject, listener: &Arc<RecordingListener>) -> Arc<dyn LeaderRetrievalService> {
    let retrieval = process.leader_retriever(component());
    listener.listen(&retrieval).await;
    retrieval
}

/// Who begins to listen late is told the present leader: address, term and epoch.
pub async fn late_listener_is_told_the_leader<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let _retrieval = follow(&process, &listener).await;
    let told = listener.wait_for_address("a:1").await;
    assert_eq!(told.leader_session_id, leader.session);
    let own = leader.election.subscribe().borrow().clone();
    assert_eq!(own.map(|own| own.epoch), Some(told.epoch));
}

/// Who listens before anybody leads is told once somebody does, and of nobody before.
pub async fn early_listener_is_told_the_first_leader<F: Fixture<Subject = Subject>>(fixture: F) {
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let retrieval = follow(&process, &listener).await;
    assert_eq!(*retrieval.subscribe().borrow(), None);
    let _leader = Leader::of(&fixture, component(), "a:1").await;
    listener.wait_for_address("a:1").await;
    let told: Vec<_> = listener.leaders().into_iter().flatten().collect();
    assert_eq!(told.len(), 1, "{told:?}");
}

/// The same leader is not told twice in a row.
pub async fn the_same_is_not_told_twice<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let _retrieval = follow(&process, &listener).await;
    listener.wait_for_address("a:1").await;
    for _ in 0..3 {
        leader.confirm("a:1").await;
    }
    // What comes later says that the repetitions were told or are not.
    leader.confirm("a:2").await;
    listener.wait_for_address("a:2").await;
    leader.election.stop().await.unwrap();
    listener.wait_for_none().await;
    let leaders = listener.leaders();
    let addresses: Vec<_> = leaders
        .iter()
        .map(|leader| leader.as_ref().map(|leader| leader.leader_address.as_str()))
        .skip_while(Option::is_none)
        .collect();
    assert_eq!(addresses, [Some("a:1"), Some("a:2"), None]);
}

/// When nobody leads any more, `None` is told.
pub async fn loss_of_the_leader_is_none<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let retrieval = follow(&process, &listener).await;
    listener.wait_for_address("a:1").await;
    leader.election.stop().await.unwrap();
    listener.wait_for_none().await;
    assert_eq!(*retrieval.subscribe().borrow(), None);
}

/// The next leader is told, in its own term, with a greater epoch.
pub async fn next_leader_is_told<F: Fixture<Subject = Subject>>(fixture: F) {
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let _retrieval = follow(&process, &listener).await;
    let mut last = None;
    for round in 0..4 {
        let address = format!("host-{round}:1");
        let leader = Leader::of(&fixture, component(), &address).await;
        let told = listener.wait_for_address(&address).await;
        assert_eq!(told.leader_session_id, leader.session);
        assert!(Some(told.epoch) > last, "{told:?} after {last:?}");
        last = Some(told.epoch);
        leader.election.stop().await.unwrap();
    }
    let epochs: Vec<_> = listener
        .leaders()
        .into_iter()
        .flatten()
        .map(|leader| leader.epoch)
        .collect();
    assert!(epochs.is_sorted(), "{epochs:?}");
}

/// A change of the address within one term is told.
pub async fn changed_address_is_told<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let _retrieval = follow(&process, &listener).await;
    for address in ["a:2", "a:3", "a:1"] {
        leader.confirm(address).await;
        let told = listener.wait_for_address(address).await;
        assert_eq!(told.leader_session_id, leader.session);
    }
}

/// A listener that is slow misses intermediate values at most, never the latest.
pub async fn slow_listener_is_told_the_latest<F: Fixture<Subject = Subject>>(fixture: F) {
    let gate = Gate::new();
    let leader = Leader::of(&fixture, component(), "a:0").await;
    let process = fixture.open().await;
    let listener = RecordingListener::with(ListenerBehaviour::Block(gate.clone()));
    let retrieval = follow(&process, &listener).await;
    listener.wait_for_latest("told a leader", Option::is_some).await;
    for number in 1..=20 {
        leader.confirm(&format!("a:{number}")).await;
    }
    gate.open();
    listener.wait_for_address("a:20").await;
    eventually("known by the watch", || async {
        let known = retrieval.subscribe().borrow().clone();
        known.filter(|known| known.leader_address == "a:20")
    })
    .await;
}

/// All that listen are told the same, in one process and in several.
pub async fn all_listeners_agree<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    let mut following = Vec::new();
    for process in [&first, &first, &second] {
        let listener = RecordingListener::new();
        following.push((follow(process, &listener).await, listener));
    }
    let leader = Leader::of(&fixture, component(), "a:1").await;
    for (_, listener) in &following {
        let told = listener.wait_for_address("a:1").await;
        assert_eq!(told.leader_session_id, leader.session);
    }
    leader.election.stop().await.unwrap();
    for (_, listener) in &following {
        listener.wait_for_none().await;
    }
}

/// A change of one component's leader is not told to who follows another.
pub async fn components_are_apart<F: Fixture<Subject = Subject>>(fixture: F) {
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let retrieval = follow(&process, &listener).await;
    let other = process.leader_retriever(ComponentId::resource_manager());
    let witness = RecordingListener::new();
    witness.listen(&other).await;
    let _leader = Leader::of(&fixture, ComponentId::resource_manager(), "b:2").await;
    witness.wait_for_address("b:2").await;
    assert_eq!(*retrieval.subscribe().borrow(), None);
    assert!(listener.leaders().iter().all(Option::is_none));
}

/// A component of the user's own is followed like any other.
pub async fn component_of_the_users_own_is_followed<F: Fixture<Subject = Subject>>(fixture: F) {
    let component = ComponentId::custom("scheduler").unwrap();
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let retrieval = process.leader_retriever(component.clone());
    listener.listen(&retrieval).await;
    let leader = Leader::of(&fixture, component, "a:1").await;
    let told = listener.wait_for_address("a:1").await;
    assert_eq!(told.leader_session_id, leader.session);
    leader.election.stop().await.unwrap();
    listener.wait_for_none().await;
}

/// The watch says the same as the callbacks: nothing before `start`, then the leader.
pub async fn leader_can_be_followed_by_a_watch<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let process = fixture.open().await;
    let retrieval = process.leader_retriever(component());
    let mut watch = retrieval.subscribe();
    assert_eq!(*watch.borrow(), None);
    RecordingListener::new().listen(&retrieval).await;
    let known = within_limit("known by the watch", watch.wait_for(Option::is_some)).await;
    let known = known.unwrap().clone().unwrap();
    assert_eq!(known.leader_address, "a:1");
    assert_eq!(known.leader_session_id, leader.session);
    leader.election.stop().await.unwrap();
    within_limit("known by the watch", watch.wait_for(Option::is_none))
        .await
        .unwrap();
}

/// A second start is `Invalid`, also after `stop`.
pub async fn start_twice_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let retrieval = follow(&process, &listener).await;
    let second = RecordingListener::new();
    for _ in 0..2 {
        let error = retrieval
            .start(Arc::clone(&second) as Arc<dyn LeaderRetrievalListener>)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        retrieval.stop().await.unwrap();
    }
    assert!(second.events().is_empty());
}

/// `stop` is idempotent, and nothing is told after it has returned.
pub async fn nothing_is_told_after_stop<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let witness = RecordingListener::new();
    let retrieval = follow(&process, &listener).await;
    let _other = follow(&process, &witness).await;
    listener.wait_for_address("a:1").await;
    retrieval.stop().await.unwrap();
    retrieval.stop().await.unwrap();
    let told = listener.events().len();
    leader.confirm("a:2").await;
    witness.wait_for_address("a:2").await;
    leader.election.stop().await.unwrap();
    witness.wait_for_none().await;
    assert_eq!(listener.events().len(), told);
}

/// `stop` inside a callback returns, and ends the telling.
pub async fn stop_inside_callback_does_not_deadlock<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let process = fixture.open().await;
    let listener = RecordingListener::with(ListenerBehaviour::Stop);
    let witness = RecordingListener::new();
    let retrieval = follow(&process, &listener).await;
    let _other = follow(&process, &witness).await;
    listener.wait_for_latest("told anything", |_| true).await;
    within_limit("stopped", retrieval.stop()).await.unwrap();
    leader.confirm("a:2").await;
    witness.wait_for_address("a:2").await;
    assert_eq!(listener.leaders().len(), 1);
}

/// A listener that panics keeps no other from being told.
pub async fn panicking_listener_touches_no_other<F: Fixture<Subject = Subject>>(fixture: F) {
    let process = fixture.open().await;
    let panicking = RecordingListener::with(ListenerBehaviour::Panic);
    let sound = RecordingListener::new();
    let stopped = follow(&process, &panicking).await;
    let _other = follow(&process, &sound).await;
    let leader = Leader::of(&fixture, component(), "a:1").await;
    panicking.wait_for_latest("told anything", |_| true).await;
    sound.wait_for_address("a:1").await;
    leader.confirm("a:2").await;
    sound.wait_for_address("a:2").await;
    within_limit("stopped", stopped.stop()).await.unwrap();
    let errors = sound.events();
    assert!(
        !errors
            .iter()
            .any(|event| matches!(event, ListenerEvent::Error(_))),
        "{errors:?}"
    );
}

/// Unreadable leader information is an error with its place and nobody known; the watch goes on.
pub async fn unreadable_leader_is_an_error<F: Fixture<Subject = Subject>>(fixture: F) {
    let leader = Leader::of(&fixture, component(), "a:1").await;
    let (process, listener) = (fixture.open().await, RecordingListener::new());
    let _retrieval = follow(&process, &listener).await;
    listener.wait_for_address("a:1").await;
    fixture.break_entry(Entry::LeaderInformation(component())).await;
    let error = listener.wait_for_error().await;
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .subject()
            .is_some_and(|subject| subject.contains(component().as_str()))
    );
    // Nobody is known from then until the leader has corrected it.
    listener.wait_for_address("a:1").await;
    assert!(listener.leaders().contains(&None));
    leader.confirm("a:2").await;
    listener.wait_for_address("a:2").await;
}

cases! { ($) leader_retrieval:
    late_listener_is_told_the_leader,
    early_listener_is_told_the_first_leader,
    the_same_is_not_told_twice,
    loss_of_the_leader_is_none,
    next_leader_is_told,
    changed_address_is_told,
    slow_listener_is_told_the_latest,
    all_listeners_agree,
    components_are_apart,
    component_of_the_users_own_is_followed,
    leader_can_be_followed_by_a_watch,
    start_twice_is_invalid,
    nothing_is_told_after_stop,
    stop_inside_callback_does_not_deadlock,
    panicking_listener_touches_no_other,
    unreadable_leader_is_an_error,
}
