use stateright::Property;

use super::process::{Process, Session, WriteStage};
use super::task::Task;
use super::term_model::TermModel;
use super::term_state::TermState;

/// I1, as far as leases end before their sessions, and no operator deletes a latch.
pub const ONE_LEADER: &str = "I1: at most one process says has_leadership";
/// I2.
pub const NO_STALE_WRITE: &str = "I2: no write of a term is applied after a later term has begun";
/// I3.
pub const EPOCH_GROWS: &str = "I3: every term has a greater epoch than all before";

/// What must hold always, and what must be reachable lest it hold for nothing.
pub(super) fn all() -> Vec<Property<TermModel>> {
    vec![
        Property::always(ONE_LEADER, |_, state: &TermState| {
            state.one_leader_excepted || leaders(state).count() <= 1
        }),
        Property::always(NO_STALE_WRITE, |_, state: &TermState| !state.faults.stale_write),
        Property::always(
            "I2: no write of a term is applied once its latch is gone or was set by another",
            |_, state: &TermState| !state.faults.unfenced_write,
        ),
        Property::always(EPOCH_GROWS, |_, state: &TermState| {
            !state.faults.epoch_not_greater
        }),
        Property::always(
            "I4: no flag while contenders are revoked, or hold another term",
            |_, state: &TermState| {
                state.processes.iter().all(|process| {
                    process
                        .grant
                        .is_none_or(|grant| process.told == Some(grant.term) && process.task == Task::Lead)
                })
            },
        ),
        Property::always(
            "I12: reading back says of a write what is true",
            |_, state: &TermState| !state.faults.wrong_verdict,
        ),
        Property::always(
            "a session never has more than one latch",
            |_, state: &TermState| {
                (0..state.processes.len()).all(|id| {
                    let own = |latch: &&super::Latch| latch.maker == id && latch.of_present_session;
                    state.latches.iter().filter(own).count() <= 1
                })
            },
        ),
        Property::sometimes(
            "a process leads while the one before it does not know that its session is gone",
            |_, state: &TermState| {
                leaders(state).any(|_| true)
                    && state
                        .processes
                        .iter()
                        .any(|process| process.session == Session::Expired && process.told.is_some())
            },
        ),
        Property::sometimes(
            "a write of a term is refused while a later one lasts",
            |_, state: &TermState| writes(state, |stage| stage == WriteStage::Refused),
        ),
        Property::sometimes(
            "a write is read back while a later term lasts",
            |_, state: &TermState| writes(state, |stage| stage == WriteStage::InDoubt { applied: true }),
        ),
        Property::sometimes(
            "a claim was applied and its reply lost",
            |_, state: &TermState| {
                state.processes.iter().any(|process| {
                    let Task::ClaimInDoubt(claim) = process.task else {
                        return false;
                    };
                    state.latches.iter().any(|latch| latch.term == Some(claim.term))
                })
            },
        ),
        Property::sometimes(
            "a process leads again with the same latch",
            |_, state: &TermState| {
                leaders(state).any(|process| process.grant.is_some_and(|grant| grant.fence.version >= 2))
            },
        ),
        Property::sometimes(
            "a process that was asked to step down deletes its latch before the next leads",
            |_, state: &TermState| {
                !state.one_leader_excepted
                    && state.latches.len() > 1
                    && state.processes.iter().any(|process| process.task == Task::Leave)
            },
        ),
        Property::sometimes(
            "a latch of a session that was given up stands before that of the next",
            |_, state: &TermState| {
                state.latches.first().is_some_and(|first| {
                    !first.of_present_session
                        && state
                            .latches
                            .iter()
                            .any(|other| other.maker == first.maker && other != first)
                })
            },
        ),
    ]
}

fn leaders(state: &TermState) -> impl Iterator<Item = &Process> {
    state.processes.iter().filter(|process| process.has_leadership())
}

/// A write of an earlier term at this stage, while a process leads in a later one.
fn writes(state: &TermState, at: fn(WriteStage) -> bool) -> bool {
    state.processes.iter().any(|process| {
        process.write.is_some_and(|write| {
            at(write.stage)
                && leaders(state).any(|leader| {
                    leader
                        .grant
                        .is_some_and(|grant| grant.claimed > write.grant.claimed)
                })
        })
    })
}
