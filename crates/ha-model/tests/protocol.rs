//! The protocol keeps I1, I2, I3, I4 and I9 in every run within the bound, and each of its rules is needed: without
//! it the model breaks one of them. The figures and the shortest paths are printed.
//!
//! `HA_TEST_FULL=1` explores the larger bound (see the crate's documentation).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at the first thing that is not as expected, and this one reports figures"
)]

use ha_core::environment::{Clock, SystemClock};
use ha_model::lease_model::{self, ClockRate, FaultKind, LeaseModel};
use ha_model::term_model::{self, EventKind, TermModel};
use ha_model::{Exploration, Weakening};
use stateright::Model;

fn full_form() -> bool {
    std::env::var("HA_TEST_FULL").is_ok_and(|value| value == "1")
}

fn measured(what: &str, explore: impl FnOnce() -> Exploration) -> Exploration {
    let began = SystemClock.now();
    let exploration = explore();
    let took = SystemClock.now().saturating_since(began);
    println!("{what}: {exploration}, {:.1} s", took.as_secs_f64());
    exploration
}

/// Nothing is broken, and nothing holds because it never comes to it.
fn assert_holds(what: &str, explore: impl FnOnce() -> Exploration) {
    let exploration = measured(what, explore);
    for (property, path) in &exploration.broken {
        println!("{property} is broken:\n{}", path.join("\n"));
    }
    assert!(exploration.broken.is_empty(), "{:?}", exploration.broken.keys());
    assert_eq!(exploration.unreached, [""; 0], "never reached");
}

/// `property` is broken within `bound` faults; prints the shortest path with the fewest.
fn assert_breaks(property: &'static str, bound: u8, explore: impl Fn(u8) -> Exploration) {
    for faults in 0..=bound {
        let exploration = measured(&format!("with {faults} faults"), || explore(faults));
        if let Some(path) = exploration.broken.get(property) {
            println!(
                "{property} is broken in {} steps:\n{}",
                path.len(),
                path.join("\n")
            );
            return;
        }
    }
    panic!("{property} holds with {bound} faults");
}

fn lease_breaks(weakening: Weakening, property: &'static str) {
    assert_breaks(property, 2, |faults| {
        let mut model = LeaseModel::new(6, faults).unwrap();
        model.weakening = Some(weakening);
        Exploration::until_broken(&model, property)
    });
}

fn term_breaks(weakening: Weakening, property: &'static str) {
    assert_breaks(property, 2, |events| {
        let mut model = TermModel::new(events);
        model.weakening = Some(weakening);
        Exploration::until_broken(&model, property)
    });
}

#[test]
fn leases_keep_i1_and_i9() {
    if !full_form() {
        let model = LeaseModel::new(6, 2).unwrap();
        return assert_holds("T = 6 units, 2 faults", || Exploration::of(&model, 1));
    }
    let mut every_clock = LeaseModel::new(8, 2).unwrap();
    every_clock.clocks = ClockRate::COMBINATIONS.to_vec();
    assert_holds("T = 8 units, 2 faults, every combination of clocks", || {
        Exploration::of(&every_clock, 2)
    });
    let mut three_faults = LeaseModel::new(6, 3).unwrap();
    three_faults.kinds = vec![
        FaultKind::Pause,
        FaultKind::Crash,
        FaultKind::CutFollower,
        FaultKind::CutZooKeeperLeader,
    ];
    assert_holds("T = 6 units, 3 faults that cut off or stop", || {
        Exploration::of(&three_faults, 2)
    });
}

#[test]
fn terms_keep_i1_i2_i3_and_i4() {
    let threads = if full_form() { 2 } else { 1 };
    assert_holds("2 events from outside", || {
        Exploration::of(&TermModel::new(2), threads)
    });
    if full_form() {
        let mut three_events = TermModel::new(3);
        // Some situations need a reply that is lost, or an operator: nothing is asked to be reached here.
        three_events.kinds = vec![EventKind::LeaseOver, EventKind::Expire];
        let exploration = measured("3 events that end terms", || {
            Exploration::of(&three_events, threads)
        });
        assert!(exploration.broken.is_empty(), "{:?}", exploration.broken);
    }
}

/// Lest a lost reply be harmless because it ends everything.
#[test]
fn a_claim_whose_reply_was_lost_is_read_back_and_leads() {
    use term_model::Action;
    let model = TermModel::new(1);
    let steps = [
        Action::Enter(0),
        Action::Look(0),
        Action::ClaimReplyLost(0),
        Action::ReadBackClaim(0),
        Action::Grant(0),
    ];
    let [start] = model.init_states().try_into().unwrap();
    let end = steps.into_iter().fold(start, |state, step| {
        let mut possible = Vec::new();
        model.actions(&state, &mut possible);
        assert!(possible.contains(&step), "{step} after [{state}]");
        model.next_state(&state, step).unwrap()
    });
    assert!(end.processes[0].has_leadership(), "{end}");
}

#[test]
fn a_lease_anchored_at_the_newest_answer_breaks_i1() {
    lease_breaks(Weakening::LeaseAnchoredAtNewestAnswer, lease_model::ONE_LEADER);
}

#[test]
fn heartbeats_by_sync_break_i1() {
    lease_breaks(Weakening::HeartbeatsAreSync, lease_model::ONE_LEADER);
}

/// Not a rule of the protocol: what I1 excepts. The exception is needed.
#[test]
fn pings_held_up_beyond_half_a_tick_break_i1() {
    lease_breaks(Weakening::PingsHeldUp, lease_model::ONE_LEADER);
}

#[test]
fn writes_without_a_fence_break_i2() {
    term_breaks(Weakening::FenceLeftOut, term_model::NO_STALE_WRITE);
}

#[test]
fn a_fence_that_ignores_the_version_breaks_i2() {
    term_breaks(Weakening::FenceIgnoresVersion, term_model::NO_STALE_WRITE);
}

#[test]
fn ownership_by_name_breaks_i1() {
    term_breaks(Weakening::OwnershipByName, term_model::ONE_LEADER);
}

#[test]
fn the_creation_zxid_as_epoch_breaks_i3() {
    term_breaks(Weakening::EpochIsCreation, term_model::EPOCH_GROWS);
}
