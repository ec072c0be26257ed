//! What a process that stands in the election does when something fails: it neither leads by what is left of a lease,
//! nor keeps a place that is of no use to it, nor gives one up for nothing, nor leaves anything behind.

use ha_core::election::{LeaderElectionDriverFactory as _, LeaderElectionEvent};
use ha_core::{Error, ErrorKind};
use ha_testkit::fakes::{Behaviour, Recorder};
use tokio::sync::{mpsc, watch};

use super::*;
use crate::client::ZkCode;
use crate::session::memory_session::{TICK, TIMEOUT};

/// So often that whatever does not wait for time has happened.
const TURNS: usize = 1_000;

async fn settle() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn without_tolerance_the_next_term_waits_for_an_answer_over_the_new_connection_to_count() {
    let server = server();
    let test = TestEnvironment::manual(1);
    let contender = RecordingContender::confirming("http://1:1");
    let component = ComponentId::dispatcher();
    let environment = test.environment.clone();
    let process = Process::start_in(&server, 1, false, component, environment, contender).await;
    process.contender.wait_for_grant().await;
    // Not so soon after the beginning that it waits before it stands in the election again.
    test.clock.advance(Duration::from_secs(1));
    process.memory.suspend().await;
    process.wait_for_revokes(1).await;
    process.memory.heal().await;
    settle().await;
    assert_eq!(
        process.terms(),
        (1, 1),
        "the old lease still holds, but it ends soon"
    );
    let mut ticks = 0;
    while process.terms() != (2, 1) {
        assert!(ticks < 5, "granted at once when the lease is new");
        ticks += 1;
        test.clock.advance(TICK);
        settle().await;
    }
    test.clock.advance(TIMEOUT / 2);
    settle().await;
    assert_eq!(process.terms(), (2, 1));
}

#[tokio::test]
async fn a_process_whose_heartbeats_do_not_count_reports_it_and_leaves_its_place_to_the_next() {
    let server = server();
    let test = TestEnvironment::manual(1);
    let component = ComponentId::dispatcher();
    let contender = RecordingContender::confirming("http://1:1");
    let environment = test.environment.clone();
    let first = Process::start_in(&server, 1, true, component.clone(), environment, contender).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let second = Process::start(&server, 2, true, component).await;
    wait_for_watches(&server, 4).await;
    server.refuse_creates(&paths().session_check(), ZkCode::NoAuth);
    first.memory.suspend().await;
    first.memory.heal().await;
    for _ in 0..100 {
        test.clock.advance(TIMEOUT / 16);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(first.terms(), (1, 1), "its lease ran out, and it got no other");
    assert_eq!(second.terms(), (1, 0));
    let told = first.contender.calls();
    assert!(
        told.contains(&ContenderCall::Error(ErrorKind::Unavailable)),
        "{told:?}"
    );
    assert_eq!(latches(&server).await.len(), 2, "it stands at the end");
}

#[tokio::test]
async fn a_standby_that_stops_is_not_granted_what_becomes_free_meanwhile() {
    let server = server();
    let first = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let environment = TestEnvironment::real_time(2).environment;
    let memory = MemorySession::new(&server, 2, true, environment.clone());
    let (events, mut told) = mpsc::unbounded_channel();
    let factory = factory(&memory, 2, &environment, Arc::new(Always));
    let driver = factory.create(events).await.unwrap();
    wait_for_watches(&server, 4).await;
    driver.end_leadership();
    server.take_requests();
    first.election.close().await.unwrap();
    while !server.take_requests().contains(&"set".to_owned()) {
        tokio::task::yield_now().await;
    }
    settle().await;
    assert_eq!(memory.session.gate().current(), None);
    let told: Option<LeaderElectionEvent> = told.try_recv().ok();
    assert!(told.is_none(), "{told:?}");
    driver.close().await.unwrap();
    assert!(latches(&server).await.is_empty());
}

#[tokio::test]
async fn a_quota_that_keeps_a_process_from_contending_is_told_once_a_minute_with_path_and_remedy() {
    let server = server();
    server.refuse_creates(&paths().latches(), ZkCode::QuotaExceeded);
    let test = TestEnvironment::manual(1);
    let contender = RecordingContender::confirming("http://1:1");
    let component = ComponentId::dispatcher();
    let environment = test.environment.clone();
    let process = Process::start_in(&server, 1, true, component, environment, contender).await;
    let told = || {
        let calls = process.contender.calls();
        calls
            .iter()
            .filter(|call| **call == ContenderCall::Error(ErrorKind::Unavailable))
            .count()
    };
    settle().await;
    assert_eq!(told(), 1);
    let minutes = 10;
    for _ in 0..minutes * 30 {
        test.clock.advance(Duration::from_secs(2));
        settle().await;
    }
    // It is tried again every few seconds, so some minutes are a little longer.
    let told = told();
    assert!((minutes - 1..=minutes + 1).contains(&told), "{told}");
    assert!(process.contender.sessions().is_empty());
}

#[tokio::test]
async fn a_process_that_lost_the_lowest_place_is_not_held_to_the_time_that_it_had_there() {
    let server = server();
    let test = TestEnvironment::manual(1);
    let component = ComponentId::dispatcher();
    let contender = RecordingContender::confirming("http://1:1");
    let environment = test.environment.clone();
    let first = Process::start_in(&server, 1, false, component.clone(), environment, contender).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let second = Process::start(&server, 2, true, component).await;
    wait_for_watches(&server, 4).await;
    // The first is the lowest and without a lease; then it is asked to step down.
    first.memory.suspend().await;
    test.clock.advance(Duration::from_secs(1));
    first.memory.heal().await;
    settle().await;
    assert_eq!(first.terms(), (1, 1));
    let asked = latches(&server).await[0].clone();
    touch(&server, &asked).await;
    while second.contender.sessions().is_empty() {
        test.clock.advance(TICK);
        settle().await;
    }
    while latches(&server).await.len() < 2 {
        test.clock.advance(TICK);
        settle().await;
    }
    // Long after that it stands in the election anew for another reason: its latch is deleted.
    test.clock.advance(TIMEOUT * 3);
    settle().await;
    let admin = server.client(99);
    let standby = latches(&server).await[1].clone();
    admin.delete(&paths().latch(&standby), None).await.unwrap();
    while latches(&server)
        .await
        .get(1)
        .is_none_or(|latch| *latch == standby)
    {
        test.clock.advance(TICK);
        settle().await;
    }
    test.clock.advance(Duration::from_secs(1));
    settle().await;
    let told = first.contender.calls();
    let errors = told.iter().any(|call| matches!(call, ContenderCall::Error(_)));
    assert!(!errors, "{told:?}");
}

/// Answers with what the test says, once it says so.
struct Asked {
    questions: watch::Sender<usize>,
    /// `None`: not yet.
    answer: watch::Sender<Option<bool>>,
}

#[async_trait]
impl LeadershipPrecondition for Asked {
    async fn ensure(&self) -> ha_core::Result<()> {
        self.questions.send_modify(|questions| *questions += 1);
        let mut answer = self.answer.subscribe();
        let answer = *answer.wait_for(Option::is_some).await.unwrap();
        match answer {
            Some(true) => Ok(()),
            _ => Err(Error::new(ErrorKind::Unavailable, "the connection was lost")),
        }
    }
}

#[tokio::test]
async fn a_process_that_may_not_lead_at_first_contends_once_it_may() {
    let server = server();
    let environment = TestEnvironment::real_time(1).environment;
    let memory = MemorySession::new(&server, 1, false, environment.clone());
    let asked = Arc::new(Asked {
        questions: watch::Sender::new(0),
        answer: watch::Sender::new(Some(false)),
    });
    let factory = factory(&memory, 1, &environment, Arc::<Asked>::clone(&asked));
    let contender = RecordingContender::confirming("http://1:1");
    let component = ComponentId::dispatcher();
    let process = Process::start_by(memory, factory, component, environment, contender).await;
    let mut questions = asked.questions.subscribe();
    // The second one says that the first failure was met by another attempt.
    questions.wait_for(|questions| *questions >= 2).await.unwrap();
    assert!(latches(&server).await.is_empty());
    asked.answer.send_replace(Some(true));
    process.contender.wait_for_grant().await;
}

#[tokio::test]
async fn a_place_in_the_queue_is_kept_when_it_is_only_the_connection_that_is_lost() {
    let server = server();
    let environment = TestEnvironment::real_time(1).environment;
    let memory = MemorySession::new(&server, 1, false, environment.clone());
    let asked = Arc::new(Asked {
        questions: watch::Sender::new(0),
        answer: watch::Sender::new(Some(true)),
    });
    let factory = factory(&memory, 1, &environment, Arc::<Asked>::clone(&asked));
    let contender = RecordingContender::confirming("http://1:1");
    let component = ComponentId::dispatcher();
    let process = Process::start_by(memory, factory, component, environment, contender).await;
    process.contender.wait_for_grant().await;
    let before = latches(&server).await;
    asked.answer.send_replace(None);
    let questions = *asked.questions.borrow();
    process.memory.suspend().await;
    process.wait_for_revokes(1).await;
    process.memory.heal().await;
    let mut asking = asked.questions.subscribe();
    asking.wait_for(|asked| *asked > questions).await.unwrap();
    process.memory.suspend().await;
    asked.answer.send_replace(Some(false));
    settle().await;
    asked.answer.send_replace(Some(true));
    process.memory.heal().await;
    process.contender.wait_for_grants(2).await;
    assert_eq!(latches(&server).await, before);
}

#[tokio::test]
async fn a_place_in_the_queue_is_kept_when_nobody_was_told_yet_that_the_connection_was_lost() {
    let server = server();
    let environment = TestEnvironment::real_time(1).environment;
    let memory = MemorySession::new(&server, 1, true, environment.clone());
    let asked = Arc::new(Asked {
        questions: watch::Sender::new(0),
        answer: watch::Sender::new(Some(true)),
    });
    let factory = factory(&memory, 1, &environment, Arc::<Asked>::clone(&asked));
    let contender = RecordingContender::confirming("http://1:1");
    let component = ComponentId::dispatcher();
    let process = Process::start_by(memory, factory, component, environment, contender).await;
    process.contender.wait_for_grant().await;
    // It stands in the election anew, and is asked.
    process.memory.session.gate().end_leadership();
    asked.answer.send_replace(None);
    let mut asking = asked.questions.subscribe();
    let questions = *asking.borrow();
    asking.wait_for(|asked| *asked > questions).await.unwrap();
    let before = latches(&server).await;
    // The task of the election is woken before that of the session, and finds a status that is out of date.
    asked.answer.send_replace(Some(false));
    process.memory.flap_unseen();
    settle().await;
    asked.answer.send_replace(Some(true));
    process.contender.wait_for_grants(2).await;
    assert_eq!(latches(&server).await, before);
}

#[tokio::test]
async fn without_tolerance_what_is_left_of_the_lease_of_a_standby_is_no_ground_to_lead_after_a_suspension() {
    let server = server();
    let first = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let test = TestEnvironment::manual(2);
    let contender = RecordingContender::confirming("http://2:1");
    let component = ComponentId::dispatcher();
    let environment = test.environment.clone();
    let second = Process::start_in(&server, 2, false, component, environment, contender).await;
    wait_for_watches(&server, 4).await;
    assert!(second.memory.session.gate().lease_holds());
    second.memory.suspend().await;
    assert!(!second.memory.session.gate().lease_holds());
    second.memory.heal().await;
    wait_for_watches(&server, 4).await;
    first.election.close().await.unwrap();
    settle().await;
    assert_eq!(
        second.terms(),
        (0, 0),
        "nothing counts yet over the new connection"
    );
    let mut ticks = 0;
    while second.terms() != (1, 0) {
        assert!(ticks < 5, "granted at once when the lease is new");
        ticks += 1;
        test.clock.advance(TICK);
        settle().await;
    }
}

#[tokio::test]
async fn a_process_whose_connection_flaps_too_often_to_get_a_lease_leaves_the_lowest_place_after_two_timeouts()
 {
    let server = server();
    let test = TestEnvironment::manual(1);
    let component = ComponentId::dispatcher();
    let contender = RecordingContender::confirming("http://1:1");
    let environment = test.environment.clone();
    let first = Process::start_in(&server, 1, false, component.clone(), environment, contender).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let second = Process::start(&server, 2, true, component).await;
    wait_for_watches(&server, 4).await;
    let before = latches(&server).await;
    // Each connection is lost before a tick has passed on it.
    let down = TIMEOUT / 8;
    let mut lowest_for = Duration::ZERO;
    while lowest_for < TIMEOUT * 2 {
        assert_eq!(latches(&server).await, before, "after {lowest_for:?}");
        first.memory.suspend().await;
        settle().await;
        test.clock.advance(down);
        settle().await;
        first.memory.heal().await;
        settle().await;
        lowest_for += down;
    }
    // It was first found the lowest again after the first of these.
    first.memory.suspend().await;
    test.clock.advance(down);
    first.memory.heal().await;
    second.contender.wait_for_grant().await;
    assert_eq!(first.terms(), (1, 1));
    let told = first.contender.calls();
    assert!(
        told.contains(&ContenderCall::Error(ErrorKind::Unavailable)),
        "{told:?}"
    );
    while latches(&server).await.len() < 2 {
        settle().await;
        test.clock.advance(TICK);
    }
    assert_eq!(latches(&server).await[0], before[1], "it stands at the end");
}

#[tokio::test]
async fn a_step_down_whose_replies_are_lost_takes_the_leader_information_with_the_latch_all_the_same() {
    let server = server();
    let first = Process::start(&server, 1, true, ComponentId::dispatcher()).await;
    first.contender.wait_for_grant().await;
    wait_for_watches(&server, 2).await;
    let silent = RecordingContender::with(
        "http://2:1",
        &Recorder::new(),
        Behaviour::Record,
        Behaviour::Record,
    );
    let environment = TestEnvironment::real_time(2).environment;
    let component = ComponentId::dispatcher();
    let second = Process::start_in(&server, 2, true, component.clone(), environment, silent).await;
    wait_for_watches(&server, 4).await;
    let info = paths().connection_info(&component);
    while !server.paths().contains(&info) {
        tokio::task::yield_now().await;
    }
    touch(&server, &latches(&server).await[0]).await;
    // As often as it is tried at once.
    for _ in 0..10 {
        server.lose_next_reply(Lost::NotApplied);
    }
    second.contender.wait_for_grant().await;
    assert!(!server.paths().contains(&info));
}
