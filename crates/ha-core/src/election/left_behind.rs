use std::time::Duration;

use crate::backoff::Backoff;
use crate::environment::BootInstant;

/// Waits of a removal that failed. There is one leader, so no jitter.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Leader information of a component that may stand although its contender has left. Until it is gone, retrievers
/// follow somebody who is not there: it is removed as soon as this process leads, and again until that has succeeded.
/// At most one removal is in flight.
pub(super) struct LeftBehind {
    /// Writes of the contender that have not ended: each may make it anew.
    writes: usize,
    /// When to remove it next; `None` while that depends on an answer or a grant.
    due: Option<BootInstant>,
    in_flight: bool,
    backoff: Backoff,
}

impl LeftBehind {
    /// What a contender leaves with so many writes not ended, while a removal is in flight or not.
    pub(super) fn new(writes: usize, in_flight: bool) -> Self {
        Self {
            writes,
            due: None,
            in_flight,
            backoff: Backoff::new(RETRY.0, RETRY.1),
        }
    }

    /// Writes that have not ended.
    pub(super) fn writes(&self) -> usize {
        self.writes
    }

    /// Whether a removal is in flight.
    pub(super) fn is_in_flight(&self) -> bool {
        self.in_flight
    }

    /// This process leads anew: nothing of before keeps it waiting.
    pub(super) fn granted(&mut self, now: BootInstant) {
        self.backoff.reset();
        self.due = Some(now);
    }

    /// It could not be removed just now.
    pub(super) fn failed(&mut self, now: BootInstant) {
        let next = now + self.backoff.next_delay();
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
    }

    /// A write of its contender ended.
    pub(super) fn written(&mut self, now: BootInstant) {
        self.writes = self.writes.saturating_sub(1);
        self.due = Some(now);
    }

    /// Whether it is to be removed now, which is taken for begun.
    pub(super) fn poll(&mut self, now: BootInstant) -> bool {
        let begins = !self.in_flight && self.due.is_some_and(|due| due <= now);
        if begins {
            self.due = None;
            self.in_flight = true;
        }
        begins
    }

    /// The removal in flight ended. `true`: nothing is left, and nothing can come.
    pub(super) fn removed(&mut self, removed: bool, now: BootInstant) -> bool {
        self.in_flight = false;
        if !removed {
            self.failed(now);
        }
        removed && self.writes == 0 && self.due.is_none()
    }

    /// When [`LeftBehind::poll`] has something next, while this process leads.
    pub(super) fn wakeup(&self) -> Option<BootInstant> {
        self.due.filter(|_| !self.in_flight)
    }
}
