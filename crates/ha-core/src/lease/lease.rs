use std::collections::VecDeque;

use super::LeaseTerms;
use crate::environment::BootInstant;

/// The rule of design §3 for one session, pure: every time is given.
///
/// A *heartbeat* is any answered request. It *counts* once a *proof* (an answered transaction of the session)
/// was sent at least one tick after the heartbeat's answer had arrived. The lease ends `T − margin` after the
/// send time of the newest heartbeat that counts.
///
/// Why not the newest answered request: a server that is cut off from its leader goes on answering reads, and
/// the leader's view of a session is as old as one heartbeat interval plus half a tick.
#[derive(Clone, Debug)]
pub struct Lease {
    terms: LeaseTerms,
    /// Send time of the newest heartbeat that counts.
    counted: Option<BootInstant>,
    /// Answered heartbeats that do not count yet, by send time, and by answer time too. Each one is sent at
    /// least `T/64` after the one before and none is older than a lease lasts, so there are at most 64.
    /// Leaving one out can only make the lease shorter.
    pending: VecDeque<Heartbeat>,
}

#[derive(Clone, Copy, Debug)]
struct Heartbeat {
    sent: BootInstant,
    answered: BootInstant,
}

impl Lease {
    /// The lease of a session that was just created: its creation counts at once, with the time at which
    /// `connect` was called.
    pub fn of_created_session(terms: LeaseTerms, connect_called: BootInstant) -> Self {
        Self {
            counted: Some(connect_called),
            ..Self::of_reattached_session(terms)
        }
    }

    /// The lease of a session that another client was attached to: none, until a heartbeat counts.
    pub fn of_reattached_session(terms: LeaseTerms) -> Self {
        Self {
            terms,
            counted: None,
            pending: VecDeque::new(),
        }
    }

    /// The terms.
    pub fn terms(&self) -> LeaseTerms {
        self.terms
    }

    /// A request that was handed to the client at `sent` (taken before) has been answered; `answered` may be
    /// late but not early.
    pub fn heartbeat_answered(&mut self, sent: BootInstant, answered: BootInstant) {
        // Answers that were noted out of order: the later time is the safe one for both.
        let newest = self.pending.back();
        let answered = newest.map_or(answered, |newest| answered.max(newest.answered));
        let earliest_useful = newest.map(|newest| newest.sent + self.terms.resolution());
        if earliest_useful.is_none_or(|earliest| sent >= earliest) {
            self.pending.push_back(Heartbeat { sent, answered });
        }
        while self
            .pending
            .front()
            .is_some_and(|oldest| oldest.sent + self.terms.duration() <= answered)
        {
            self.pending.pop_front();
        }
    }

    /// A transaction that was handed to the client at `sent` (taken before) has been answered. It is a
    /// heartbeat as well.
    pub fn proof_answered(&mut self, sent: BootInstant, answered: BootInstant) {
        while let Some(heartbeat) = self.pending.front().copied() {
            if heartbeat.answered + self.terms.tick() > sent {
                break;
            }
            self.counted = self.counted.max(Some(heartbeat.sent));
            self.pending.pop_front();
        }
        self.heartbeat_answered(sent, answered);
    }

    /// The answered heartbeats that do not count yet: send time and answer time, oldest first. With the end of
    /// the lease that is all a lease remembers.
    pub fn uncounted(&self) -> impl Iterator<Item = (BootInstant, BootInstant)> {
        self.pending
            .iter()
            .map(|heartbeat| (heartbeat.sent, heartbeat.answered))
    }

    /// The first instant at which the lease holds no more; `None` when it never held.
    pub fn end(&self) -> Option<BootInstant> {
        self.counted.map(|sent| sent + self.terms.duration())
    }

    /// Whether the lease holds at `now`.
    pub fn holds(&self, now: BootInstant) -> bool {
        self.end().is_some_and(|end| now < end)
    }
}

#[cfg(test)]
mod tests;
