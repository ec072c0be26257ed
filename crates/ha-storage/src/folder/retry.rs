use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::environment::Environment;

use super::fault::Fault;

/// Attempts at an operation before a transient fault is reported.
const ATTEMPTS: u32 = 4;
/// First and longest wait between attempts.
const RETRY_WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Counts attempts and waits between them.
pub(super) struct Retry<'a> {
    environment: &'a Environment,
    backoff: Backoff,
    failed: u32,
}

impl<'a> Retry<'a> {
    pub(super) fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            backoff: Backoff::new(RETRY_WAIT.0, RETRY_WAIT.1),
            failed: 0,
        }
    }

    /// Whether no attempt has failed yet.
    pub(super) fn is_first(&self) -> bool {
        self.failed == 0
    }

    /// After a fault: waits and says whether to try again.
    pub(super) async fn again(&mut self, fault: &Fault) -> bool {
        self.failed += 1;
        if !fault.is_transient() || self.failed >= ATTEMPTS {
            return false;
        }
        tracing::warn!(%fault, attempt = self.failed, "the storage failed; trying again");
        self.environment.clock.sleep(self.backoff.next_delay()).await;
        true
    }
}
