//! What the steps of the model do.

use super::action::{Action, ProcessId};
use super::latch::Latch;
use super::listing::{Listing, list};
use super::process::{Grant, Session, Write, WriteStage};
use super::stamp::Stamp;
use super::task::{Claim, Known, Task};
use super::term_model::TermModel;
use super::term_state::TermState;
use crate::weakening::Weakening;

impl TermModel {
    /// Takes a step; `None` where there is nothing to do.
    pub(super) fn apply(&self, state: &mut TermState, action: Action) -> Option<()> {
        match action {
            Action::Enter(id) => self.enter(state, id, false),
            Action::EnterReplyLost(id) => self.enter(state, id, true),
            Action::Look(id) => Self::look(state, id),
            Action::TakeOver(id) => Self::take_over(state, id),
            Action::Claim(id) | Action::ClaimReplyLost(id) => {
                let Task::Claiming(claim) = state.processes[id].task else {
                    return None;
                };
                let reply_lost = action == Action::ClaimReplyLost(id);
                self.claim(state, id, claim, reply_lost);
            }
            Action::ReadBackClaim(id) => {
                let Task::ClaimInDoubt(claim) = state.processes[id].task else {
                    return None;
                };
                Self::read_back_claim(state, id, claim);
            }
            Action::Grant(id) => {
                let process = &mut state.processes[id];
                let Task::AwaitLease(term, claimed) = process.task else {
                    return None;
                };
                // By a lease that should have ended before the session.
                state.one_leader_excepted |= process.session == Session::Expired;
                process.grant = process.latch.map(|fence| Grant { term, claimed, fence });
                process.told = Some(term);
                process.task = Task::Lead;
            }
            Action::ReadOwnLatch(id) => {
                let known = state.processes[id].latch?;
                let there = state.latch(known.created).is_some();
                let process = &mut state.processes[id];
                if process.task == Task::Lead {
                    process.end_term(there);
                } else {
                    process.task = Task::Enter;
                }
            }
            Action::NoticeTermOver(id) => state.processes[id].end_term(false),
            Action::Revoke(id) => {
                let process = &mut state.processes[id];
                let leaves = process.task == Task::Revoke { step_down: true };
                process.told = None;
                process.task = if leaves { Task::Leave } else { Task::Enter };
            }
            Action::Leave(id) => {
                let own = |latch: &Latch| self.is_own(id, latch);
                state.latches.retain(|latch| !own(latch));
                let process = &mut state.processes[id];
                process.latch = None;
                process.task = Task::Enter;
            }
            Action::Decide(id) => {
                let stamp = state.next_stamp();
                let process = &mut state.processes[id];
                process.write = process.grant.map(|grant| Write {
                    id: stamp,
                    grant,
                    stage: WriteStage::Sent,
                });
            }
            Action::Write(id) => self.write(state, id, state.processes[id].write?, false),
            Action::WriteReplyLost(id) => self.write(state, id, state.processes[id].write?, true),
            Action::WriteRefused(id) => {
                let write = state.processes[id].write.take()?;
                self.refused(state, id, write);
            }
            Action::ReadBackWrite(id) => {
                let write = state.processes[id].write?;
                let WriteStage::InDoubt { applied } = write.stage else {
                    return None;
                };
                self.read_back_write(state, id, write, applied);
            }
            Action::LeaseOver(id) => state.processes[id].grant = None,
            Action::Expire(id) => Self::expire(state, id),
            Action::ExpireGivenUp(id) => {
                state
                    .latches
                    .retain(|latch| latch.maker != id || latch.of_present_session);
            }
            Action::LearnExpired(id) | Action::GiveUp(id) => {
                let process = &mut state.processes[id];
                process.end_term(false);
                process.session = Session::None;
            }
            Action::Reattach(id) => state.processes[id].end_term(false),
            Action::NewSession(id) => Self::new_session(state, id),
            Action::OperatorDeletes(place) => {
                state.latches.remove(place);
                state.one_leader_excepted = true;
            }
            Action::OperatorSets(place) => {
                let zxid = state.next_stamp();
                let latch = state.latches.get_mut(place)?;
                latch.version += 1;
                latch.modified = zxid;
                latch.term = None;
            }
        }
        Some(())
    }

    /// Whether the process takes the latch for its own.
    fn is_own(&self, id: ProcessId, latch: &Latch) -> bool {
        latch.maker == id && (latch.of_present_session || self.weakening == Some(Weakening::OwnershipByName))
    }

    /// What the check of a leader write says. An error tells whether the latch is there, at another version.
    fn check(&self, state: &TermState, fence: Known) -> Result<(), bool> {
        let there = state.latch(fence.created).is_some();
        match self.weakening {
            Some(Weakening::FenceLeftOut) => Ok(()),
            Some(Weakening::FenceIgnoresVersion) if there => Ok(()),
            _ if state.is_as_known(fence) => Ok(()),
            _ => Err(there),
        }
    }

    fn enter(&self, state: &mut TermState, id: ProcessId, reply_lost: bool) {
        let known = state.processes[id].latch;
        let own: Vec<_> = state
            .latches
            .iter()
            .filter(|latch| self.is_own(id, latch))
            .copied()
            .collect();
        let mut kept = None;
        for latch in own {
            let found = Known {
                created: latch.created,
                version: latch.version,
            };
            // One whose creation is in doubt is at version 0; by name alone any version will do.
            let as_left = known.map_or(latch.version == 0, |known| known == found);
            if as_left || self.weakening == Some(Weakening::OwnershipByName) {
                kept = Some(found);
            } else {
                state.latches.retain(|other| other.created != latch.created);
            }
        }
        if kept.is_none() {
            let created = state.next_stamp();
            state.latches.push(Latch {
                created,
                maker: id,
                of_present_session: true,
                version: 0,
                modified: created,
                term: None,
            });
            if !reply_lost {
                kept = Some(Known { created, version: 0 });
            }
        }
        let process = &mut state.processes[id];
        process.latch = kept;
        process.task = if reply_lost { Task::Enter } else { Task::Stand };
    }

    fn look(state: &mut TermState, id: ProcessId) {
        let Some(known) = state.processes[id].latch else {
            return;
        };
        let listing = list(&state.latches, known.created);
        state.processes[id].task = match listing {
            _ if !state.is_as_known(known) => Task::Enter,
            Listing::Lowest => Task::Claiming(Claim {
                term: state.next_stamp(),
                lowest: true,
            }),
            Listing::Behind(predecessor) => Task::Behind(predecessor),
            Listing::Absent => Task::Enter,
        };
    }

    fn take_over(state: &mut TermState, id: ProcessId) {
        let Some(known) = state.processes[id].latch else {
            return;
        };
        let lowest = list(&state.latches, known.created) == Listing::Lowest;
        let term = state.next_stamp();
        state.processes[id].task = Task::Claiming(Claim { term, lowest });
    }

    fn claim(&self, state: &mut TermState, id: ProcessId, claim: Claim, reply_lost: bool) {
        let zxid = state.next_stamp();
        let known = state.processes[id]
            .latch
            .filter(|known| state.is_as_known(*known));
        let latch = known.and_then(|known| state.latch_mut(known.created));
        let mut applied = None;
        if let Some(latch) = latch {
            latch.version += 1;
            latch.modified = zxid;
            latch.term = Some(claim.term);
            applied = Some((latch.version, latch.created));
        }
        if let Some((_, created)) = applied.filter(|_| claim.lowest) {
            let epoch = if self.weakening == Some(Weakening::EpochIsCreation) {
                created
            } else {
                zxid
            };
            state.faults.epoch_not_greater |= epoch <= state.newest_epoch;
            state.newest_epoch = epoch;
            state.newest_claim = zxid;
        }
        if reply_lost {
            state.processes[id].task = Task::ClaimInDoubt(claim);
        } else {
            Self::claim_answered(state, id, claim, applied.map(|(version, _)| (version, zxid)));
        }
    }

    /// The outcome of a claim is known: its version and zxid, if it was applied.
    fn claim_answered(state: &mut TermState, id: ProcessId, claim: Claim, applied: Option<(u8, Stamp)>) {
        let process = &mut state.processes[id];
        process.task = match applied {
            Some((version, zxid)) => {
                process.latch = process.latch.map(|known| Known { version, ..known });
                // A claim without the lowest place grants nothing, but it is an own write.
                if claim.lowest {
                    Task::AwaitLease(claim.term, zxid)
                } else {
                    Task::Stand
                }
            }
            None => Task::Enter,
        };
    }

    fn read_back_claim(state: &mut TermState, id: ProcessId, claim: Claim) {
        let known = state.processes[id].latch;
        let found = known.and_then(|known| state.latch(known.created));
        match (found, known) {
            (Some(latch), _) if latch.term == Some(claim.term) => {
                let applied = Some((latch.version, latch.modified));
                Self::claim_answered(state, id, claim, applied);
            }
            // Not applied, and never will be: it is sent again.
            (Some(latch), Some(known)) if latch.version == known.version => {
                state.processes[id].task = Task::Claiming(claim);
            }
            _ => Self::claim_answered(state, id, claim, None),
        }
    }

    fn write(&self, state: &mut TermState, id: ProcessId, write: Write, reply_lost: bool) {
        let fence = write.grant.fence;
        let applied = self.check(state, fence).is_ok();
        if applied {
            let claimed = write.grant.claimed;
            state.faults.stale_write |= claimed < state.newest_claim;
            let untouched = state
                .latch(fence.created)
                .is_some_and(|latch| latch.modified == claimed);
            state.faults.unfenced_write |= !untouched;
            state.written = write.id;
        }
        let stage = match applied {
            _ if reply_lost => WriteStage::InDoubt { applied },
            true => {
                state.processes[id].write = None;
                return;
            }
            false => WriteStage::Refused,
        };
        state.processes[id].write = Some(Write { stage, ..write });
    }

    fn read_back_write(&self, state: &mut TermState, id: ProcessId, write: Write, applied: bool) {
        let says_applied = state.written == write.id;
        let says_not_applied = !says_applied && state.is_as_known(write.grant.fence);
        state.faults.wrong_verdict |= (says_applied && !applied) || (says_not_applied && applied);
        state.processes[id].write = says_not_applied.then_some(Write {
            stage: WriteStage::Sent,
            ..write
        });
        if !says_applied && !says_not_applied {
            self.refused(state, id, write);
        }
    }

    /// The election is told that the check of a write failed.
    fn refused(&self, state: &mut TermState, id: ProcessId, write: Write) {
        let there = state.latch(write.grant.fence.created).is_some();
        let process = &mut state.processes[id];
        if process.grant == Some(write.grant) && process.task == Task::Lead {
            process.end_term(there);
        }
    }

    fn expire(state: &mut TermState, id: ProcessId) {
        let process = &mut state.processes[id];
        state.one_leader_excepted |= process.has_leadership();
        process.session = Session::Expired;
        state
            .latches
            .retain(|latch| latch.maker != id || !latch.of_present_session);
    }

    fn new_session(state: &mut TermState, id: ProcessId) {
        for latch in state.latches.iter_mut().filter(|latch| latch.maker == id) {
            latch.of_present_session = false;
        }
        let process = &mut state.processes[id];
        process.session = Session::Alive;
        process.latch = None;
    }
}
