use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn at(millis: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_millis(millis))
}

/// T = 6 s, tick 500 ms, margin 300 ms: a lease lasts 5.7 s.
fn terms() -> LeaseTerms {
    LeaseTerms::new(Duration::from_secs(6), Some(Duration::from_millis(500))).unwrap()
}

#[test]
fn a_created_session_has_a_lease_from_the_time_connect_was_called() {
    let lease = Lease::of_created_session(terms(), at(1_000));
    assert_eq!(lease.end(), Some(at(6_700)));
    assert!(lease.holds(at(6_699)));
    assert!(!lease.holds(at(6_700)));
}

#[test]
fn a_reattached_session_has_none() {
    let lease = Lease::of_reattached_session(terms());
    assert_eq!(lease.end(), None);
    assert!(!lease.holds(at(0)));
}

#[test]
fn a_heartbeat_alone_never_counts() {
    let mut lease = Lease::of_reattached_session(terms());
    for beat in 0..1_000 {
        lease.heartbeat_answered(at(beat * 100), at(beat * 100 + 5));
    }
    assert_eq!(lease.end(), None);
}

#[test]
fn a_heartbeat_counts_by_a_proof_sent_one_tick_after_its_answer_and_not_a_moment_earlier() {
    for (proof_sent, end) in [(709, None), (710, Some(at(5_900)))] {
        let mut lease = Lease::of_reattached_session(terms());
        lease.heartbeat_answered(at(200), at(210));
        lease.proof_answered(at(proof_sent), at(proof_sent + 10));
        assert_eq!(lease.end(), end, "proof sent at {proof_sent}");
    }
}

#[test]
fn a_proof_is_a_heartbeat_that_the_next_proof_counts() {
    let mut lease = Lease::of_created_session(terms(), at(0));
    lease.proof_answered(at(750), at(760));
    assert_eq!(lease.end(), Some(at(5_700)), "only the creation counts yet");
    lease.proof_answered(at(1_500), at(1_510));
    assert_eq!(lease.end(), Some(at(750 + 5_700)));
}

#[test]
fn proofs_in_flight_together_count_nothing_of_each_other() {
    let mut lease = Lease::of_created_session(terms(), at(0));
    lease.proof_answered(at(1_000), at(3_000));
    lease.proof_answered(at(2_000), at(3_000));
    assert_eq!(lease.end(), Some(at(5_700)));
}

#[derive(Clone, Debug)]
struct Request {
    gap: u64,
    round_trip: u64,
    proof: bool,
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0u64..1_500, 0u64..2_000, any::<bool>()).prop_map(|(gap, round_trip, proof)| Request {
        gap,
        round_trip,
        proof,
    });
    prop::collection::vec(request, 0..400)
}

proptest! {
    /// Against the rule written down naively: the lease is never longer, and shorter by at most T/64.
    #[test]
    fn the_lease_is_the_rule_and_never_beyond_it(requests in requests(), created in any::<bool>()) {
        let terms = terms();
        let mut lease = if created {
            Lease::of_created_session(terms, at(0))
        } else {
            Lease::of_reattached_session(terms)
        };
        let mut answered_so_far: Vec<(BootInstant, BootInstant)> = Vec::new();
        let mut rule = created.then(|| at(0));
        let (mut sent, mut last_answer) = (0, 0);
        for request in requests {
            sent += request.gap;
            // Answers of one session arrive in the order of the requests.
            last_answer = last_answer.max(sent + request.round_trip);
            let (sent, answered) = (at(sent), at(last_answer));
            if request.proof {
                let counting = answered_so_far.iter().filter(|(_, answer)| *answer + terms.tick() <= sent);
                rule = rule.max(counting.map(|(sent, _)| *sent).max());
                lease.proof_answered(sent, answered);
            } else {
                lease.heartbeat_answered(sent, answered);
            }
            answered_so_far.push((sent, answered));
            prop_assert!(lease.pending.len() <= 64, "{} are remembered", lease.pending.len());
            let rule_end = rule.map(|sent| sent + terms.duration());
            prop_assert!(lease.end() <= rule_end, "{:?} is beyond {rule_end:?}", lease.end());
            // What is forgotten is too old to hold when it could count, or within the resolution of another.
            if let Some(rule_end) = rule_end.filter(|end| *end > answered) {
                let end = lease.end().unwrap_or_default();
                prop_assert!(end + terms.resolution() > rule_end, "{end:?} is far short of {rule_end:?}");
            }
        }
    }

    /// The end never moves back: more answers never shorten a lease.
    #[test]
    fn answers_never_shorten_a_lease(requests in requests()) {
        let mut lease = Lease::of_reattached_session(terms());
        let mut sent = 0;
        for request in requests {
            sent += request.gap;
            let before = lease.end();
            if request.proof {
                lease.proof_answered(at(sent), at(sent + request.round_trip));
            } else {
                lease.heartbeat_answered(at(sent), at(sent + request.round_trip));
            }
            prop_assert!(lease.end() >= before);
        }
    }
}
