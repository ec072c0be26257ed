use std::time::Duration;

use super::LeaderInformation;
use crate::backoff::Backoff;
use crate::environment::BootInstant;
use crate::error::{ErrorKind, Result};

/// Information that somebody else changed is written again at most this often (design §4.6).
const REWRITE_INTERVAL: Duration = Duration::from_secs(1);
/// From this many rewrites on, none of them left alone for [`PEACE`], it is a fight that contenders are told of.
const FIGHT: u32 = 5;
/// After this long without a change by another, a fight is over.
const PEACE: Duration = Duration::from_secs(30);
/// Waits of a publish that could not be written. Short, because a driver itself waits for its connection, and
/// retrievers wait for this. There is one leader, so no jitter.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// What one component has to publish in the present term, and when. At most one write is in flight.
pub(super) struct Publication {
    /// What retrievers shall read; `None` until leadership is confirmed.
    wanted: Option<LeaderInformation>,
    /// What was last written in this term.
    published: Option<LeaderInformation>,
    /// The number of the write in flight, and what it writes.
    in_flight: Option<(u64, LeaderInformation)>,
    /// When to write next.
    due: Option<BootInstant>,
    last_sent: Option<BootInstant>,
    backoff: Backoff,
    /// Rewrites since the last peace, and when the last change by another was seen.
    rewrites: u32,
    last_change: Option<BootInstant>,
}

impl Default for Publication {
    fn default() -> Self {
        Self {
            wanted: None,
            published: None,
            in_flight: None,
            due: None,
            last_sent: None,
            backoff: Backoff::new(RETRY.0, RETRY.1),
            rewrites: 0,
            last_change: None,
        }
    }
}

impl Publication {
    /// The contender confirmed: write at once.
    pub(super) fn want(&mut self, information: LeaderInformation, now: BootInstant) {
        self.wanted = Some(information);
        self.due = Some(now);
    }

    /// What stands there changed to `found`. `true`: it has become a lasting fight.
    pub(super) fn observed(&mut self, found: Option<&LeaderInformation>, now: BootInstant) -> bool {
        let Some(wanted) = &self.wanted else { return false };
        if found == Some(wanted) {
            // Read after our write, so a rewrite that an older reading asked for is not needed. A write of
            // something else that is still under way will need one.
            if self
                .in_flight
                .as_ref()
                .is_none_or(|(_, written)| written == wanted)
            {
                self.due = None;
            }
            return false;
        }
        let at_peace = self.last_change.is_none_or(|last| last + PEACE <= now);
        self.last_change = Some(now);
        if at_peace {
            self.rewrites = 0;
        }
        // With a write under way this may be a reading from before it; the next one tells.
        let earliest = if self.in_flight.is_some() {
            now + REWRITE_INTERVAL
        } else {
            self.last_sent
                .map_or(now, |sent| now.max(sent + REWRITE_INTERVAL))
        };
        if self.due.is_some() {
            return false;
        }
        self.due = Some(earliest);
        self.rewrites = self.rewrites.saturating_add(1);
        self.rewrites == FIGHT
    }

    /// What to write now, if anything, as the write of this number.
    pub(super) fn poll(&mut self, write: u64, now: BootInstant) -> Option<LeaderInformation> {
        if self.in_flight.is_some() || self.due.is_none_or(|due| now < due) {
            return None;
        }
        self.due = None;
        self.in_flight = self.wanted.clone().map(|wanted| (write, wanted));
        self.last_sent = Some(now);
        self.wanted.clone()
    }

    /// The write of this number ended. One that is not in flight belongs to an earlier term or contender, and says
    /// nothing about this one.
    pub(super) fn finished(&mut self, write: u64, result: &Result<()>, now: BootInstant) {
        let of_this = |(number, _): &mut (u64, LeaderInformation)| *number == write;
        let Some((_, written)) = self.in_flight.take_if(of_this) else {
            return;
        };
        let written = Some(written);
        match result {
            Ok(()) => {
                self.backoff.reset();
                self.published = written;
                if self.wanted != self.published {
                    self.due = Some(now);
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::Unavailable => self.due = Some(now + self.backoff.next_delay()),
                // The term is over; the driver says so too.
                ErrorKind::NotLeader => {
                    self.wanted = None;
                    self.due = None;
                }
                // Refused as it is: what was there before stands.
                ErrorKind::Invalid if self.wanted == written => self.wanted.clone_from(&self.published),
                // Somebody has to put it right; the change that this makes is observed, and it is written then.
                _ => {}
            },
        }
    }

    /// When [`Publication::poll`] has something next; `None` while it depends on an answer.
    pub(super) fn wakeup(&self) -> Option<BootInstant> {
        self.due.filter(|_| self.in_flight.is_none())
    }
}

#[cfg(test)]
mod tests;
