use std::fmt;
use std::hash::{Hash, Hasher};

use super::latch::Latch;
use super::process::Process;
use super::stamp::Stamp;
use super::task::{Known, Task};

/// A state of the model.
///
/// The hash is that of a state in which stamps are numbered by their order and processes are sorted, so that the
/// checker takes states for one that differ in nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermState {
    /// The processes.
    pub processes: [Process; 3],
    /// The latches, in their order.
    pub latches: Vec<Latch>,
    /// The write id in the node that leaders write.
    pub written: Stamp,
    /// The zxid of the newest claim by which a process may lead.
    pub newest_claim: Stamp,
    /// The greatest epoch so far.
    pub newest_epoch: Stamp,
    /// What may still happen from outside.
    pub events_left: u8,
    /// I1 promises nothing any more: an operator deleted a latch, or a session expired before its lease.
    pub one_leader_excepted: bool,
    /// What was seen to go wrong.
    pub faults: Faults,
    /// The newest stamp.
    pub clock: Stamp,
}

/// What was seen to go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Faults {
    /// A write was applied after a later term had begun.
    pub stale_write: bool,
    /// A write was applied after its latch was gone, or set by another.
    pub unfenced_write: bool,
    /// A term had no greater epoch than all before.
    pub epoch_not_greater: bool,
    /// Reading back said of a write what was not true.
    pub wrong_verdict: bool,
}

impl TermState {
    /// The next stamp.
    pub fn next_stamp(&mut self) -> Stamp {
        self.clock = Stamp(self.clock.0 + 1);
        self.clock
    }

    /// The latch of this identity.
    pub fn latch(&self, created: Stamp) -> Option<&Latch> {
        self.latches.iter().find(|latch| latch.created == created)
    }

    /// The latch of this identity, to be written.
    pub fn latch_mut(&mut self, created: Stamp) -> Option<&mut Latch> {
        self.latches.iter_mut().find(|latch| latch.created == created)
    }

    /// Whether the latch is there at that version.
    pub fn is_as_known(&self, known: Known) -> bool {
        self.latch(known.created)
            .is_some_and(|latch| latch.version == known.version)
    }

    fn each_stamp(&mut self, mut see: impl FnMut(&mut Stamp)) {
        for latch in &mut self.latches {
            see(&mut latch.created);
            see(&mut latch.modified);
            latch.term.as_mut().map(&mut see);
        }
        for process in &mut self.processes {
            if let Some(known) = &mut process.latch {
                see(&mut known.created);
            }
            match &mut process.task {
                Task::Behind(stamp) => see(stamp),
                Task::Claiming(claim) | Task::ClaimInDoubt(claim) => see(&mut claim.term),
                Task::AwaitLease(term, zxid) => {
                    see(term);
                    see(zxid);
                }
                Task::Enter | Task::Stand | Task::Lead | Task::Revoke { .. } | Task::Leave => {}
            }
            process.told.as_mut().map(&mut see);
            let write = process.write.as_mut().map(|write| {
                see(&mut write.id);
                &mut write.grant
            });
            for grant in write.into_iter().chain(&mut process.grant) {
                see(&mut grant.term);
                see(&mut grant.claimed);
                see(&mut grant.fence.created);
            }
        }
        see(&mut self.newest_claim);
        see(&mut self.newest_epoch);
        see(&mut self.written);
    }

    /// The state that stands for all that differ from this one in names only.
    fn representative(&self) -> Self {
        let mut state = self.clone();
        // Nobody asks for a write id that no write has any more.
        let asked = |process: &Process| process.write.is_some_and(|write| write.id == self.written);
        if !self.processes.iter().any(asked) {
            state.written = Stamp::default();
        }
        let mut stamps = Vec::with_capacity(32);
        state.each_stamp(|stamp| stamps.push(*stamp));
        stamps.sort_unstable();
        stamps.dedup();
        state.each_stamp(|stamp| {
            let place = stamps.partition_point(|other| *other < *stamp);
            *stamp = Stamp(u8::try_from(place).unwrap_or(u8::MAX));
        });
        let mut order = [0, 1, 2];
        order.sort_by_key(|id| state.processes.get(*id).copied());
        for latch in &mut state.latches {
            latch.maker = order
                .iter()
                .position(|id| *id == latch.maker)
                .unwrap_or(latch.maker);
        }
        state.processes.sort_unstable();
        state
    }
}

impl Hash for TermState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let state = self.representative();
        state.processes.hash(hasher);
        state.latches.hash(hasher);
        (state.written, state.newest_claim, state.newest_epoch).hash(hasher);
        (state.events_left, state.one_leader_excepted, state.faults).hash(hasher);
    }
}

impl fmt::Display for TermState {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.latches.iter().map(|latch| {
            let given_up = if latch.of_present_session {
                ""
            } else {
                " (session given up)"
            };
            format!("{}{given_up} v{}", latch.maker, latch.version)
        });
        let leaders = self
            .processes
            .iter()
            .enumerate()
            .filter(|(_, process)| process.has_leadership());
        let leaders: Vec<_> = leaders.map(|(id, _)| id.to_string()).collect();
        write!(
            text,
            "latches of [{}], leading: [{}]",
            queue.collect::<Vec<_>>().join(", "),
            leaders.join(", ")
        )
    }
}
