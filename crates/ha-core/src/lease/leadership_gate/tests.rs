use std::time::Duration;

use futures::FutureExt as _;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::test_clock::TestClock;

const FIRST: LeaderSessionId = LeaderSessionId::from_uuid(Uuid::from_u128(1));
const SECOND: LeaderSessionId = LeaderSessionId::from_uuid(Uuid::from_u128(2));

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// T = 6 s, tick 500 ms, margin 300 ms: a lease lasts 5.7 s.
fn terms() -> LeaseTerms {
    LeaseTerms::new(ms(6_000), Some(ms(500))).unwrap()
}

fn gate() -> (Arc<TestClock>, LeadershipGate) {
    let clock = Arc::new(TestClock::default());
    let gate = LeadershipGate::new(Arc::clone(&clock) as Arc<dyn Clock>);
    (clock, gate)
}

/// A proof that is answered at once.
fn prove(gate: &LeadershipGate, clock: &TestClock, lease: LeaseId) {
    gate.proof_answered(lease, clock.now());
}

#[test]
fn leadership_ends_at_the_very_instant_the_lease_does() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(!gate.has_leadership(FIRST), "a lease is not a grant");
    assert!(gate.grant(lease, FIRST));
    clock.advance(ms(5_699));
    assert!(gate.has_leadership(FIRST));
    assert!(!gate.has_leadership(SECOND));
    clock.advance(ms(1));
    assert!(!gate.has_leadership(FIRST));
}

#[test]
fn what_was_answered_before_it_was_forgotten_brings_no_lease_and_no_grant() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, FIRST));
    prove(&gate, &clock, lease);
    clock.advance(ms(1_000));
    gate.forget_answers(lease);
    assert!(!gate.has_leadership(FIRST) && !gate.lease_holds());
    prove(&gate, &clock, lease);
    assert!(
        !gate.grant(lease, SECOND),
        "nothing that was answered since counts yet"
    );
    assert_eq!(gate.lease_begun().now_or_never(), None);
    clock.advance(ms(500));
    prove(&gate, &clock, lease);
    assert_eq!(gate.lease_begun().now_or_never(), Some(()));
    assert!(gate.grant(lease, SECOND));
    // Of an earlier session.
    gate.session_created(terms(), clock.now());
    gate.forget_answers(lease);
    assert!(gate.lease_holds());
}

#[test]
fn a_lease_that_ran_out_unnoticed_is_not_revived_by_a_late_answer() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, FIRST));
    clock.advance(ms(1_000));
    prove(&gate, &clock, lease);
    let sent = clock.now() + ms(1_000);
    clock.advance(ms(4_700));
    // The answer proves a lease until 6.7 s, but it comes at 5.7 s, when the lease is just over.
    gate.proof_answered(lease, sent);
    assert!(gate.lease_holds());
    assert!(!gate.has_leadership(FIRST));
    assert!(gate.grant(lease, SECOND), "leading again takes a new grant");
    assert!(gate.has_leadership(SECOND));
    assert!(!gate.has_leadership(FIRST));
}

#[test]
fn answers_of_an_earlier_session_and_grants_on_its_lease_count_for_nothing() {
    let (clock, gate) = gate();
    let old = gate.session_created(terms(), clock.now());
    assert!(gate.grant(old, FIRST));
    let new = gate.session_reattached(terms());
    assert!(
        !gate.has_leadership(FIRST),
        "nothing cached holds after a re-attach"
    );
    prove(&gate, &clock, old);
    clock.advance(ms(600));
    prove(&gate, &clock, old);
    assert!(!gate.lease_holds());
    assert!(
        !gate.grant(new, SECOND),
        "a re-attached session starts without a lease"
    );
    prove(&gate, &clock, new);
    clock.advance(ms(500));
    prove(&gate, &clock, new);
    assert!(!gate.grant(old, SECOND));
    assert!(gate.grant(new, SECOND));
    gate.session_ended();
    assert!(!gate.has_leadership(SECOND));
    assert!(!gate.lease_holds());
}

#[test]
fn ended_leadership_stays_ended_in_its_term() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, FIRST));
    assert_eq!(gate.end_leadership(), Some(FIRST));
    assert_eq!(gate.end_leadership(), None);
    prove(&gate, &clock, lease);
    assert!(!gate.has_leadership(FIRST));
}

#[test]
fn the_end_is_awaited_over_renewals_and_told_by_the_clock() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, FIRST));
    let mut ended = Box::pin(gate.leadership_ended(FIRST));
    assert!(ended.as_mut().now_or_never().is_none());
    clock.advance(ms(1_000));
    prove(&gate, &clock, lease);
    clock.advance(ms(1_000));
    prove(&gate, &clock, lease);
    clock.advance(ms(4_699));
    assert!(ended.as_mut().now_or_never().is_none(), "renewed until 6.7 s");
    clock.advance(ms(1));
    assert!(ended.as_mut().now_or_never().is_some());
    assert!(gate.leadership_ended(SECOND).now_or_never().is_some());
}

#[test]
fn the_end_is_told_at_once_when_the_term_is_ended() {
    let (clock, gate) = gate();
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, FIRST));
    let mut ended = Box::pin(gate.leadership_ended(FIRST));
    assert!(ended.as_mut().now_or_never().is_none());
    gate.end_leadership();
    assert!(ended.as_mut().now_or_never().is_some());
}

#[test]
fn a_term_ended_when_its_lease_did_however_late_that_is_noticed() {
    let (clock, gate) = gate();
    let begun = clock.now();
    let lease = gate.session_created(terms(), begun);
    assert!(gate.grant(lease, FIRST));
    assert_eq!(gate.ended_at(FIRST), None);
    clock.advance(ms(20_000));
    assert_eq!(gate.ended_at(FIRST), Some(begun + ms(5_700)));
    // A term that is ended by a call, or with its session, ends at that moment.
    let lease = gate.session_created(terms(), clock.now());
    assert!(gate.grant(lease, SECOND));
    clock.advance(ms(1_000));
    gate.end_leadership();
    clock.advance(ms(1_000));
    assert_eq!(gate.ended_at(SECOND), Some(begun + ms(21_000)));
    assert_eq!(gate.ended_at(FIRST), None, "only the newest is known");
    assert!(gate.grant(lease, FIRST));
    gate.session_ended();
    assert_eq!(gate.ended_at(FIRST), Some(begun + ms(22_000)));
}

proptest! {
    /// Whatever happens in whatever order: a term that was once seen without leadership never has it again, and
    /// none is led without a lease.
    #[test]
    fn a_term_is_never_revived(steps in prop::collection::vec((0u8..8, 0u64..3_000), 0..200)) {
        let (clock, gate) = gate();
        let mut lease = gate.session_created(terms(), clock.now());
        let mut sent = clock.now();
        let mut terms_granted: Vec<(LeaderSessionId, bool)> = Vec::new();
        for (step, millis) in steps {
            match step {
                0 | 1 => clock.advance(ms(millis)),
                2 => sent = clock.now(),
                3 => gate.heartbeat_answered(lease, sent),
                4 => gate.proof_answered(lease, sent),
                5 => {
                    let session = LeaderSessionId::from_bits(0, terms_granted.len() as u64);
                    if gate.grant(lease, session) {
                        terms_granted.push((session, true));
                    }
                }
                6 if millis < 300 => lease = gate.session_reattached(terms()),
                7 if millis < 300 => { gate.end_leadership(); }
                _ => {}
            }
            let mut leading = 0;
            for (session, alive) in &mut terms_granted {
                let leads = gate.has_leadership(*session);
                prop_assert!(*alive || !leads, "{session} was revived");
                prop_assert!(!leads || gate.lease_holds(), "{session} leads without a lease");
                *alive = leads;
                leading += usize::from(leads);
            }
            prop_assert!(leading <= 1);
        }
    }
}
