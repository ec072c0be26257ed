//! Cases about who leads, and in which term.

use std::collections::HashSet;
use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::election::LeaderContender;
use ha_core::ids::{ComponentId, LeaderSessionId};

use super::super::{Fixture, job};
use super::{Subject, component, stand, stand_for};
use crate::fakes::{Behaviour, ContenderCall, Recorder, RecordingContender};

/// A contender alone is granted leadership exactly once, and leads in that term and no other.
pub async fn single_contender_is_granted_once<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    assert!(candidate.election.has_leadership(session).await);
    let other = LeaderSessionId::from_bits(1, 2);
    assert!(!candidate.election.has_leadership(other).await);
    candidate.election.stop().await.unwrap();
    assert!(!candidate.election.has_leadership(session).await);
    assert_eq!(
        candidate.contender.calls(),
        [
            ContenderCall::Granted {
                session,
                has_leadership: true
            },
            ContenderCall::GrantReturned,
            ContenderCall::Revoked {
                has_leadership: false
            },
            ContenderCall::RevokeReturned,
        ]
    );
}

/// Of two processes one leads; when it stops the other leads, in a term of another id.
pub async fn one_of_two_leads<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_first, leader) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = leader.contender.wait_for_grant().await;
    let (_second, standby) = stand(&fixture, RecordingContender::new("b:2")).await;
    assert!(leader.election.has_leadership(session).await);
    assert!(!standby.election.has_leadership(session).await);
    assert!(standby.contender.calls().is_empty());
    leader.election.stop().await.unwrap();
    let next = standby.contender.wait_for_grant().await;
    assert_ne!(next, session);
    assert!(standby.election.has_leadership(next).await);
    assert!(!standby.election.has_leadership(session).await);
    assert!(!leader.election.has_leadership(next).await);
}

/// Each of several contenders leads when those before it have stopped: once each, in terms that never repeat and
/// whose epochs only grow (I3).
pub async fn each_leads_in_its_turn<F: Fixture<Subject = Subject>>(fixture: F) {
    let log = Recorder::new();
    let mut waiting = Vec::new();
    for number in 0..4 {
        let contender = RecordingContender::with(
            &format!("host-{number}:1"),
            &log,
            Behaviour::Record,
            Behaviour::Record,
        );
        waiting.push(stand(&fixture, contender).await);
    }
    let mut sessions = HashSet::new();
    let mut epochs = Vec::new();
    while !waiting.is_empty() {
        let (address, session) = log
            .wait_for("another term", |events| {
                events.iter().find_map(|event| match event.call {
                    ContenderCall::Granted { session, .. } if !sessions.contains(&session) => {
                        Some((event.contender.clone(), session))
                    }
                    _ => None,
                })
            })
            .await;
        sessions.insert(session);
        let index = waiting
            .iter()
            .position(|(_, candidate)| candidate.contender.address() == address)
            .expect("a stopped contender was granted leadership");
        for (number, (_, candidate)) in waiting.iter().enumerate() {
            assert_eq!(candidate.election.has_leadership(session).await, number == index);
        }
        let (_process, candidate) = waiting.swap_remove(index);
        let information = candidate.election.subscribe().borrow().clone();
        epochs.push(information.expect("the leader knows its term").epoch);
        candidate.election.stop().await.unwrap();
        assert_eq!(candidate.contender.sessions(), [session]);
    }
    assert_eq!(sessions.len(), 4);
    assert!(epochs.is_sorted_by(|a, b| a < b), "{epochs:?}");
}

/// A standby that has stopped is never granted leadership: it goes to one that still stands.
pub async fn stopped_standby_is_never_woken<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_first, leader) = stand(&fixture, RecordingContender::new("a:1")).await;
    leader.contender.wait_for_grant().await;
    let (_second, stopped) = stand(&fixture, RecordingContender::new("b:2")).await;
    let (_third, standing) = stand(&fixture, RecordingContender::new("c:3")).await;
    stopped.election.stop().await.unwrap();
    leader.election.stop().await.unwrap();
    standing.contender.wait_for_grant().await;
    standing.election.stop().await.unwrap();
    assert!(stopped.contender.calls().is_empty());
}

/// A process whose election was stopped may stand again by a new service, and leads in a new term.
pub async fn leader_may_stand_again<F: Fixture<Subject = Subject>>(fixture: F) {
    let process = fixture.open().await;
    let mut sessions = HashSet::new();
    for round in 1..=3 {
        let candidate = stand_for(&process, component(), RecordingContender::new("a:1")).await;
        sessions.insert(candidate.contender.wait_for_grant().await);
        candidate.election.stop().await.unwrap();
        assert_eq!(sessions.len(), round, "a term came again");
    }
}

/// The components of one process lead apart: stopping one leaves the others their terms.
pub async fn components_of_one_process_are_apart<F: Fixture<Subject = Subject>>(fixture: F) {
    let process = fixture.open().await;
    let components = [
        ComponentId::dispatcher(),
        ComponentId::resource_manager(),
        ComponentId::rest_server(),
        ComponentId::job_manager(job(1)),
        ComponentId::custom("scheduler").unwrap(),
    ];
    let mut candidates = Vec::new();
    for (number, component) in components.into_iter().enumerate() {
        let contender = RecordingContender::new(&format!("host:{number}"));
        candidates.push(stand_for(&process, component, contender).await);
    }
    let mut sessions = Vec::new();
    for candidate in &candidates {
        sessions.push(candidate.contender.wait_for_grant().await);
    }
    let stopped = candidates.remove(0);
    let ended = sessions.remove(0);
    stopped.election.stop().await.unwrap();
    assert!(!stopped.election.has_leadership(ended).await);
    for (candidate, session) in candidates.iter().zip(sessions) {
        assert!(candidate.election.has_leadership(session).await);
        assert_eq!(candidate.contender.sessions(), [session]);
        let revoked = |call: &ContenderCall| matches!(call, ContenderCall::Revoked { .. });
        assert!(!candidate.contender.calls().iter().any(revoked));
    }
}

/// When the leading process crashes, a standby leads in a new term.
pub async fn another_process_takes_over_after_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, leader) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = leader.contender.wait_for_grant().await;
    let (_second, standby) = stand(&fixture, RecordingContender::confirming("b:2")).await;
    drop(leader);
    let first = fixture.reopen_after_crash(first).await;
    let next = standby.contender.wait_for_grant().await;
    assert_ne!(next, session);
    // The process that came back stands behind.
    let returned = stand_for(&first, component(), RecordingContender::new("a:1")).await;
    assert!(standby.election.has_leadership(next).await);
    standby.election.stop().await.unwrap();
    returned.contender.wait_for_grant().await;
}

/// A second contender for a component in one process is `AlreadyExists`; the first one is not touched.
pub async fn second_contender_of_a_process_is_already_exists<F: Fixture<Subject = Subject>>(fixture: F) {
    let (process, leader) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = leader.contender.wait_for_grant().await;
    let second = RecordingContender::new("b:2");
    let error = second
        .try_contend(&process.leader_election(component()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(leader.election.has_leadership(session).await);
    assert!(second.calls().is_empty());
}

/// A second start is `Invalid`, and the contender of the first one is not touched.
pub async fn start_twice_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    let second = RecordingContender::new("b:2");
    let error = candidate
        .election
        .start(Arc::clone(&second) as Arc<dyn LeaderContender>)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(candidate.election.has_leadership(session).await);
    candidate.election.stop().await.unwrap();
    assert!(second.calls().is_empty());
}

/// A start after `stop` is `Invalid`.
pub async fn start_after_stop_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    candidate.contender.wait_for_grant().await;
    candidate.election.stop().await.unwrap();
    let second = RecordingContender::new("b:2");
    let error = candidate
        .election
        .start(Arc::clone(&second) as Arc<dyn LeaderContender>)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(second.calls().is_empty());
}

/// Stopping is idempotent, several times and at the same time; the contender is revoked once.
pub async fn stop_is_idempotent<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    candidate.contender.wait_for_grant().await;
    let stops = tokio::join!(candidate.election.stop(), candidate.election.stop());
    assert!(stops.0.is_ok() && stops.1.is_ok(), "{stops:?}");
    candidate.election.stop().await.unwrap();
    let calls = candidate.contender.calls();
    let revoked = |call: &&ContenderCall| matches!(call, ContenderCall::Revoked { .. });
    assert_eq!(calls.iter().filter(revoked).count(), 1, "{calls:?}");
}
