use std::sync::Arc;

use tokio::sync::oneshot;

use super::LeaderInformation;
use super::contender_slot::ContenderSlot;
use crate::error::{Error, ErrorKind, Result};

type Reply<T> = oneshot::Sender<Result<T>>;

/// A contender of the election, and who waits for what of it.
pub(super) struct ElectionEntry {
    pub(super) slot: Arc<ContenderSlot>,
    /// What its `stop` is going to answer.
    pub(super) outcome: Result<()>,
    starting: Option<Reply<()>>,
    stopping: Vec<Reply<()>>,
    /// Confirmations that are not published yet, oldest first.
    confirming: Vec<(LeaderInformation, Reply<bool>)>,
}

impl ElectionEntry {
    pub(super) fn new(slot: Arc<ContenderSlot>, starting: Reply<()>) -> Self {
        Self {
            slot,
            outcome: Ok(()),
            starting: Some(starting),
            stopping: Vec::new(),
            confirming: Vec::new(),
        }
    }

    pub(super) fn is_of(&self, slot: &Arc<ContenderSlot>) -> bool {
        Arc::ptr_eq(&self.slot, slot)
    }

    /// Answers a `start` that waits. `false`: none does.
    pub(super) fn started(&mut self, result: Result<()>) -> bool {
        match self.starting.take() {
            Some(reply) => {
                // A caller that went away started all the same.
                let _ = reply.send(result);
                true
            }
            None => false,
        }
    }

    pub(super) fn await_stop(&mut self, reply: Option<Reply<()>>) {
        self.stopping.extend(reply);
    }

    pub(super) fn await_publish(&mut self, information: LeaderInformation, reply: Reply<bool>) {
        self.confirming.push((information, reply));
    }

    /// A publish ended: answers the confirmation of it, and those that it took the place of.
    pub(super) fn published(&mut self, information: &LeaderInformation, result: &Result<()>) {
        let answer = match result {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotLeader => Ok(false),
            Err(error) => Err(error.clone()),
        };
        let newest = self
            .confirming
            .iter()
            .rposition(|(waits, _)| waits == information);
        match (newest, answer) {
            (Some(newest), answer) => {
                for (_, reply) in self.confirming.drain(..=newest) {
                    let _ = reply.send(answer.clone());
                }
            }
            // Nobody asked: it was written again because somebody else had changed it.
            (None, Err(error)) => self.slot.report(error),
            (None, Ok(_)) => {}
        }
    }

    /// The term is over: what was to be published is not.
    pub(super) fn abandon_confirmations(&mut self) {
        for (_, reply) in self.confirming.drain(..) {
            let _ = reply.send(Ok(false));
        }
    }

    /// Nothing is left of it.
    pub(super) fn left(mut self) {
        self.slot.leave();
        self.abandon_confirmations();
        self.started(Err(Error::closed("the leader election service")));
        for reply in self.stopping.drain(..) {
            let _ = reply.send(self.outcome.clone());
        }
    }
}
