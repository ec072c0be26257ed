//! The edges of leadership in the log, with times of CLOCK_BOOTTIME, so that the intervals of the processes of one
//! machine can be compared: an interval in the log is never shorter than what `has_leadership` said.

use super::ElectionTask;
use crate::election::LeaderGrant;
use crate::environment::BootInstant;
use crate::ids::LeaderSessionId;

impl ElectionTask {
    /// A term begins. To be called before any contender is told of it.
    pub(super) fn log_begin(&mut self, grant: LeaderGrant, now: BootInstant) {
        tracing::info!(
            session = %grant.session,
            epoch = %grant.epoch,
            at = self.location(),
            since_boot_ms = now.since_boot().as_millis(),
            "this process leads"
        );
        self.leading = Some(grant);
    }

    /// The term `session` is over. A lease that ran out did so when it did, whenever this is noticed.
    pub(super) fn log_end(&mut self, session: LeaderSessionId, reason: &str) {
        let leading = self.leading.take().filter(|grant| grant.session == session);
        let ended = self.driver.driver().and_then(|driver| driver.ended_at(session));
        tracing::info!(
            %session,
            epoch = leading.map(|grant| tracing::field::display(grant.epoch)),
            at = self.location(),
            reason,
            since_boot_ms = ended.unwrap_or_else(|| self.now()).since_boot().as_millis(),
            "this process leads no more"
        );
    }

    /// Ends leadership because the election stops.
    pub(super) fn end_leadership(&mut self) {
        self.driver.end_leadership();
        if let Some(grant) = self.leading {
            self.log_end(grant.session, "the election service stops");
        }
    }

    /// Where the newest term was granted.
    fn location(&self) -> Option<String> {
        self.driver.driver().and_then(|driver| driver.location())
    }
}
