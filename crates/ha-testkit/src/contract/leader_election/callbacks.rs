//! Cases about the order of callbacks, and what may be called inside them (I4).

use ha_core::ids::ComponentId;

use super::super::Fixture;
use super::{Subject, component, stand, stand_for};
use crate::condition::{eventually, within_limit};
use crate::fakes::{Behaviour, ContenderCall, ContenderEvent, Gate, Recorder, RecordingContender};

/// The leader has returned from `revoke_leadership` before the next one is granted leadership.
pub async fn revoke_comes_before_the_next_grant<F: Fixture<Subject = Subject>>(fixture: F) {
    let log = Recorder::new();
    let contender =
        |address: &str| RecordingContender::with(address, &log, Behaviour::Confirm, Behaviour::Record);
    let (_first, leader) = stand(&fixture, contender("a:1")).await;
    leader.contender.wait_for_grant().await;
    let (_second, standby) = stand(&fixture, contender("b:2")).await;
    leader.election.stop().await.unwrap();
    standby.contender.wait_for_grant().await;
    let events: Vec<ContenderEvent> = log.events();
    let place = |address: &str, wanted: fn(&ContenderCall) -> bool| {
        events
            .iter()
            .position(|event| event.contender == address && wanted(&event.call))
    };
    let revoked = place("a:1", |call| matches!(call, ContenderCall::RevokeReturned));
    let granted = place("b:2", |call| matches!(call, ContenderCall::Granted { .. }));
    assert!(revoked.is_some() && revoked < granted, "{events:#?}");
}

/// `has_leadership` is true inside `grant_leadership`, and false inside `revoke_leadership`.
pub async fn leadership_ends_before_revoke<F: Fixture<Subject = Subject>>(fixture: F) {
    let (_process, candidate) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    let session = candidate.contender.wait_for_grant().await;
    candidate.election.stop().await.unwrap();
    let calls = candidate.contender.calls();
    let granted = ContenderCall::Granted {
        session,
        has_leadership: true,
    };
    let revoked = ContenderCall::Revoked {
        has_leadership: false,
    };
    assert!(calls.contains(&granted), "{calls:?}");
    assert!(calls.contains(&revoked), "{calls:?}");
}

/// Nothing is called after `stop` has returned, be it a leader or a standby that stops.
pub async fn nothing_is_called_after_stop<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, leader) = stand(&fixture, RecordingContender::confirming("a:1")).await;
    leader.contender.wait_for_grant().await;
    let (second, standby) = stand(&fixture, RecordingContender::confirming("b:2")).await;
    standby.election.stop().await.unwrap();
    let standby_calls = standby.contender.calls();
    leader.election.stop().await.unwrap();
    let leader_calls = leader.contender.calls();
    // Two more terms pass; then both processes end.
    for round in 0..2 {
        let contender = RecordingContender::confirming(&format!("c:{round}"));
        let (_process, later) = stand(&fixture, contender).await;
        later.contender.wait_for_grant().await;
        later.election.stop().await.unwrap();
    }
    first.close().await.unwrap();
    second.close().await.unwrap();
    assert_eq!(standby.contender.calls(), standby_calls);
    assert_eq!(leader.contender.calls(), leader_calls);
}

/// While a grant blocks, leadership can be asked after and given up; the revocation waits for the grant's end.
pub async fn order_is_kept_although_a_grant_blocks<F: Fixture<Subject = Subject>>(fixture: F) {
    let gate = Gate::new();
    let blocked = Behaviour::Block(gate.clone());
    let contender = RecordingContender::with("a:1", &Recorder::new(), blocked, Behaviour::Record);
    let (_process, candidate) = stand(&fixture, contender).await;
    let session = candidate.contender.wait_for_grant().await;
    assert!(candidate.election.has_leadership(session).await);
    let release = async {
        eventually("without leadership while the grant blocks", || async {
            (!candidate.election.has_leadership(session).await).then_some(())
        })
        .await;
        assert_eq!(
            candidate.contender.calls().len(),
            1,
            "the grant is still going on"
        );
        gate.open();
    };
    let (stopped, ()) = within_limit("stopped", async {
        tokio::join!(candidate.election.stop(), release)
    })
    .await;
    stopped.unwrap();
    let calls = candidate.contender.calls();
    assert!(
        matches!(
            calls[..],
            [
                ContenderCall::Granted { .. },
                ContenderCall::GrantReturned,
                ContenderCall::Revoked { .. },
                ContenderCall::RevokeReturned
            ]
        ),
        "{calls:?}"
    );
}

/// `stop` inside `grant_leadership` returns, and the next contender leads.
pub async fn stop_inside_grant_does_not_deadlock<F: Fixture<Subject = Subject>>(fixture: F) {
    let contender = RecordingContender::with("a:1", &Recorder::new(), Behaviour::Stop, Behaviour::Record);
    let (_first, stopping) = stand(&fixture, contender).await;
    let session = stopping.contender.wait_for_grant().await;
    stopping
        .contender
        .wait_for_call("returned from the grant", |call| {
            *call == ContenderCall::GrantReturned
        })
        .await;
    let (_second, standby) = stand(&fixture, RecordingContender::new("b:2")).await;
    standby.contender.wait_for_grant().await;
    assert!(!stopping.election.has_leadership(session).await);
    within_limit("stopped", stopping.election.stop()).await.unwrap();
    assert_eq!(stopping.contender.sessions(), [session]);
}

/// `stop` inside `revoke_leadership` returns, and the next contender leads.
pub async fn stop_inside_revoke_does_not_deadlock<F: Fixture<Subject = Subject>>(fixture: F) {
    let contender = RecordingContender::with("a:1", &Recorder::new(), Behaviour::Record, Behaviour::Stop);
    let (_first, stopping) = stand(&fixture, contender).await;
    stopping.contender.wait_for_grant().await;
    let (_second, standby) = stand(&fixture, RecordingContender::new("b:2")).await;
    within_limit("stopped", stopping.election.stop()).await.unwrap();
    standby.contender.wait_for_grant().await;
    let calls = stopping.contender.calls();
    let revoked = |call: &&ContenderCall| matches!(call, ContenderCall::Revoked { .. });
    assert_eq!(calls.iter().filter(revoked).count(), 1, "{calls:?}");
}

/// A contender that panics keeps no other from being granted leadership, publishing, and stopping in order.
pub async fn panicking_contender_touches_no_other<F: Fixture<Subject = Subject>>(fixture: F) {
    let process = fixture.open().await;
    let panicking = RecordingContender::with("a:1", &Recorder::new(), Behaviour::Panic, Behaviour::Panic);
    let panicking = stand_for(&process, ComponentId::resource_manager(), panicking).await;
    panicking.contender.wait_for_grant().await;
    let sound = stand_for(&process, component(), RecordingContender::confirming("b:2")).await;
    let session = sound.contender.wait_for_grant().await;
    sound
        .contender
        .wait_for_call("confirmed", |call| *call == ContenderCall::Confirmed(Some(true)))
        .await;
    within_limit("stopped", panicking.election.stop()).await.unwrap();
    assert!(sound.election.has_leadership(session).await);
    within_limit("stopped", sound.election.stop()).await.unwrap();
}

/// Own leadership can be followed: from before the grant is called, to before the revocation is.
pub async fn own_leadership_can_be_followed<F: Fixture<Subject = Subject>>(fixture: F) {
    let process = fixture.open().await;
    let election = process.leader_election(component());
    let own = election.subscribe();
    assert_eq!(*own.borrow(), None);
    let contender = RecordingContender::new("a:1");
    contender.contend(&election).await;
    let session = contender.wait_for_grant().await;
    let term = own.borrow().clone().expect("known before the grant is called");
    assert_eq!(term.leader_session_id, session);
    election.stop().await.unwrap();
    assert_eq!(*own.borrow(), None);
    assert_eq!(*election.subscribe().borrow(), None);
}
