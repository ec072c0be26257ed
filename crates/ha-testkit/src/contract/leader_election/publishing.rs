//! Cases about what a leader publishes.

use ha_core::ErrorKind;
use ha_core::ids::{ComponentId, LeaderSessionId};

use super::super::{Entry, Fixture};
use super::{Subject, component, follow, stand, stand_for};
use crate::fakes::{ContenderCall, RecordingContender};

/// Leadership can be confirmed inside the grant; other processes then know address and term.
pub async fn confirm_inside_grant_is_published<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    let leader = listener.wait_for_address("a:1").await;
    assert_eq!(leader.leader_session_id, session);
    candidate
        .contender
        .wait_for_call("confirmed", |call| *call == ContenderCall::Confirmed(Some(true)))
        .await;
    let own = candidate.election.subscribe().borrow().clone();
    assert_eq!(own.map(|own| own.epoch), Some(leader.epoch));
}

/// Leadership can be confirmed after the grant, with an address of the caller's or the contender's own.
pub async fn confirm_after_grant_is_published<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    let confirmed = candidate
        .election
        .confirm_leadership(session, Some("elsewhere:9"))
        .await;
    assert!(confirmed.unwrap());
    let leader = listener.wait_for_address("elsewhere:9").await;
    assert_eq!(leader.leader_session_id, session);
    candidate.election.stop().await.unwrap();

    let (_process, candidate) = stand(&fixture, RecordingContender::new("b:2")).await;
    let session = candidate.contender.wait_for_grant().await;
    assert!(
        candidate
            .election
            .confirm_leadership(session, None)
            .await
            .unwrap()
    );
    let leader = listener.wait_for_address("b:2").await;
    assert_eq!(leader.leader_session_id, session);
}

/// A leader that has not confirmed is not published.
pub async fn nothing_is_published_before_confirmation<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, retrieval, listener) = follow(&fixture, component()).await;
    let (_follower, _other, witness) = follow(&fixture, ComponentId::resource_manager()).await;
    let (process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    candidate.contender.wait_for_grant().await;
    // Another component of the process confirms later: by then the first one was published or is not.
    let contender = RecordingContender::confirming("b:2");
    let _other = stand_for(&process, ComponentId::resource_manager(), contender).await;
    witness.wait_for_address("b:2").await;
    assert_eq!(*retrieval.subscribe().borrow(), None);
    assert!(listener.leaders().iter().all(Option::is_none));
}

/// Confirming a term that is not the present one is ignored: `false`, and nothing is written.
pub async fn stale_confirm_is_ignored<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    listener.wait_for_address("a:1").await;
    let stale = LeaderSessionId::from_bits(1, 2);
    let confirmed = candidate
        .election
        .confirm_leadership(stale, Some("stale:1"))
        .await;
    assert!(!confirmed.unwrap());
    // What is confirmed afterwards says that the stale one was published or is not.
    let confirmed = candidate
        .election
        .confirm_leadership(session, Some("later:1"))
        .await;
    assert!(confirmed.unwrap());
    listener.wait_for_address("later:1").await;
    let leaders = listener.leaders();
    assert!(
        leaders
            .iter()
            .flatten()
            .all(|leader| { leader.leader_session_id == session && leader.leader_address != "stale:1" }),
        "{leaders:?}"
    );
}

/// What somebody else wrote in the leader's place is corrected by the leader; who listens ends with the leader.
pub async fn foreign_information_is_corrected<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    listener.wait_for_address("a:1").await;
    fixture.break_entry(Entry::LeaderInformation(component())).await;
    // Somebody who asks only then finds it corrected; who listened all along may have been told of nobody.
    let (_late, _retrieval, late) = follow(&fixture, component()).await;
    assert_eq!(late.wait_for_address("a:1").await.leader_session_id, session);
    assert_eq!(listener.wait_for_address("a:1").await.leader_session_id, session);
    // The term goes on.
    assert!(candidate.election.has_leadership(session).await);
    assert_eq!(candidate.contender.sessions(), [session]);
}

/// A standby cannot confirm the leader's term.
pub async fn standby_cannot_confirm<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_first, leader) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = leader.contender.wait_for_grant().await;
    let (_second, standby) = stand(&fixture, RecordingContender::new("b:2")).await;
    let confirmed = standby.election.confirm_leadership(session, None).await;
    assert!(!confirmed.unwrap());
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    listener.wait_for_address("a:1").await;
    assert!(leader.election.has_leadership(session).await);
}

/// A stopped election confirms nothing: `Closed`.
pub async fn confirm_after_stop_is_closed<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    candidate.election.stop().await.unwrap();
    let error = candidate
        .election
        .confirm_leadership(session, None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    let (_follower, retrieval, listener) = follow(&fixture, component()).await;
    let (_second, next) = stand(&fixture, RecordingContender::confirming("b:2")).await;
    next.contender.wait_for_grant().await;
    listener.wait_for_address("b:2").await;
    assert!(
        listener
            .leaders()
            .iter()
            .flatten()
            .all(|leader| leader.leader_address == "b:2")
    );
    retrieval.stop().await.unwrap();
}

/// A leader may confirm again with another address; the newest counts.
pub async fn second_confirm_replaces_the_address<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::new("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    for address in ["a:1", "a:2", "a:1"] {
        let confirmed = candidate
            .election
            .confirm_leadership(session, Some(address))
            .await;
        assert!(confirmed.unwrap());
        let leader = listener.wait_for_address(address).await;
        assert_eq!(leader.leader_session_id, session);
    }
}

/// An address that is longer than any place for it is `Invalid`, and the present one stays.
pub async fn too_long_address_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    let long = "a".repeat(1 << 20);
    let error = candidate
        .election
        .confirm_leadership(session, Some(&long))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.is_safe_to_repeat());
    assert!(candidate.election.has_leadership(session).await);
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    listener.wait_for_address("a:1").await;
}

/// When the last contender stops, nobody leads, and others are told.
pub async fn nobody_leads_after_the_last_stop<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_follower, _retrieval, listener) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    listener.wait_for_address("a:1").await;
    candidate.election.stop().await.unwrap();
    listener.wait_for_none().await;
    // Somebody who asks only now is told the same.
    let (_late, retrieval, late) = follow(&fixture, component()).await;
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("b:2")).await;
    late.wait_for_address("b:2").await;
    assert!(
        late.leaders()
            .iter()
            .flatten()
            .all(|leader| leader.leader_address == "b:2")
    );
    candidate.election.stop().await.unwrap();
    retrieval.stop().await.unwrap();
}
