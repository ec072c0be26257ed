use std::sync::Arc;

use tokio::sync::mpsc;

use super::driver_calls::DriverCall;
use super::{LeaderElectionDriver, LeaderElectionEvent};
use crate::environment::BootInstant;

/// The driver as the election's task sees it.
#[derive(Default)]
pub(super) enum DriverState {
    /// There is none.
    #[default]
    Closed,
    /// It is being made; its events wait until it is there.
    Opening {
        events: mpsc::UnboundedReceiver<LeaderElectionEvent>,
        /// Close it as soon as it is there.
        close: bool,
    },
    /// It could not be made; tried again at this time.
    Waiting { retry_at: BootInstant },
    /// It takes part in the election.
    Open {
        driver: Arc<dyn LeaderElectionDriver>,
        calls: mpsc::UnboundedSender<DriverCall>,
        events: mpsc::UnboundedReceiver<LeaderElectionEvent>,
    },
    /// It is being closed; its events are of no interest any more.
    Closing,
}

impl DriverState {
    /// The open driver.
    pub(super) fn driver(&self) -> Option<&Arc<dyn LeaderElectionDriver>> {
        match self {
            Self::Open { driver, .. } => Some(driver),
            _ => None,
        }
    }

    /// When it is to be made again.
    pub(super) fn retry_at(&self) -> Option<BootInstant> {
        match self {
            Self::Waiting { retry_at } => Some(*retry_at),
            _ => None,
        }
    }

    /// Whether a contender that starts now has nothing to wait for.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Waiting { .. })
    }

    /// Makes `has_leadership` false.
    pub(super) fn end_leadership(&self) {
        if let Some(driver) = self.driver() {
            driver.end_leadership();
        }
    }

    /// Asks for a call, after those that were asked for before.
    pub(super) fn call(&self, call: DriverCall) {
        if let Self::Open { calls, .. } = self {
            // A call fails only after the last one.
            let _ = calls.send(call);
        }
    }

    /// Begins to close. `false`: there is nothing to close.
    pub(super) fn close(&mut self) -> bool {
        match self {
            Self::Open { .. } => {
                self.call(DriverCall::Close);
                *self = Self::Closing;
                true
            }
            Self::Opening { close, .. } => {
                *close = true;
                true
            }
            Self::Closing => true,
            Self::Closed | Self::Waiting { .. } => false,
        }
    }
}

/// The next event of an open driver.
pub(super) async fn next_event(driver: &mut DriverState) -> LeaderElectionEvent {
    if let DriverState::Open { events, .. } = driver
        && let Some(event) = events.recv().await
    {
        return event;
    }
    std::future::pending().await
}
