use stateright::{Model, Property};

use super::lease_model::LeaseModel;
use super::lease_state::LeaseState;
use super::link::Link;
use super::process::{Process, Run};

/// I1.
pub const ONE_LEADER: &str = "I1: at most one process says has_leadership";
/// I9.
pub const RECOVERS: &str = "I9: one leader within T + 2 ticks + 1 s after the last fault";

/// What must hold always, and what must be reachable lest it hold for nothing.
pub(super) fn all() -> Vec<Property<LeaseModel>> {
    vec![
        Property::always(ONE_LEADER, |model: &LeaseModel, state: &LeaseState| {
            leaders(model, state).count() <= 1
        }),
        Property::always(RECOVERS, |model: &LeaseModel, state: &LeaseState| {
            state.calm < model.scale.recovery() || leaders(model, state).count() == 1
        }),
        // Lest what must happen before time goes on stop it, and I9 hold for nothing.
        Property::always(
            "a step is always possible",
            |model: &LeaseModel, state: &LeaseState| {
                let mut actions = Vec::new();
                model.actions(state, &mut actions);
                !actions.is_empty()
            },
        ),
        Property::sometimes(
            "a process leads after the first has crashed",
            |model: &LeaseModel, state: &LeaseState| {
                beside_a_leader(model, state, |process| process.run == Run::Crashed)
            },
        ),
        Property::sometimes(
            "a process leads while the one before it is stopped, its session gone",
            |model: &LeaseModel, state: &LeaseState| {
                beside_a_leader(model, state, |process| {
                    process.run == Run::Paused && process.session.is_none() && !process.link.is_cut()
                })
            },
        ),
        Property::sometimes(
            "a process leads while the one before it is connected to a follower that is cut off",
            |model: &LeaseModel, state: &LeaseState| {
                beside_a_leader(model, state, |process| {
                    process.link == Link::CutFollower && process.session.is_none()
                })
            },
        ),
        Property::sometimes(
            "a process leads while the one before it is connected to a ZooKeeper leader that is cut off",
            |model: &LeaseModel, state: &LeaseState| {
                beside_a_leader(model, state, |process| {
                    process.link == Link::OldLeader && process.session.is_none()
                })
            },
        ),
        Property::sometimes(
            "a claim stands and waits for the lease",
            |model: &LeaseModel, state: &LeaseState| {
                state.processes.iter().any(|process| {
                    process.claimed
                        && process.link.is_good()
                        && !process.lease.holds(&model.scale, process.clock)
                })
            },
        ),
        Property::sometimes(
            "a leader's connection is down and its lease holds",
            |model: &LeaseModel, state: &LeaseState| {
                leaders(model, state).any(|process| matches!(process.link, Link::Down { .. }))
            },
        ),
        Property::sometimes(
            "one leader stands after all faults",
            |model: &LeaseModel, state: &LeaseState| {
                state.faults_left == 0
                    && state.calm == model.scale.recovery()
                    && leaders(model, state).count() == 1
            },
        ),
    ]
}

fn leaders<'a>(model: &'a LeaseModel, state: &'a LeaseState) -> impl Iterator<Item = &'a Process> {
    state
        .processes
        .iter()
        .filter(|process| process.has_leadership(&model.scale))
}

fn beside_a_leader(model: &LeaseModel, state: &LeaseState, other: fn(&Process) -> bool) -> bool {
    leaders(model, state).next().is_some() && state.processes.iter().any(other)
}
