//! Making and closing the driver, and writing by it.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::ElectionTask;
use crate::election::driver_calls::run_driver_calls;
use crate::election::driver_state::DriverState;
use crate::election::election_action::ElectionAction;
use crate::election::election_message::ElectionMessage;
use crate::election::{LeaderElectionDriver, LeaderInformation};
use crate::error::{Error, Result};
use crate::guarded::guarded_result;
use crate::ids::ComponentId;

impl ElectionTask {
    pub(super) fn open_driver(&mut self) {
        let (events, receiver) = mpsc::unbounded_channel();
        self.driver = DriverState::Opening {
            events: receiver,
            close: false,
        };
        let factory = Arc::clone(&self.factory);
        let messages = self.messages.clone();
        self.tasks.spawn("open-election-driver", async move {
            let result = guarded_result("create of the election driver", factory.create(events)).await;
            let _ = messages.send(ElectionMessage::DriverOpened(result));
        });
    }

    pub(super) fn driver_opened(&mut self, result: Result<Arc<dyn LeaderElectionDriver>>) {
        let DriverState::Opening { events, close } = std::mem::take(&mut self.driver) else {
            return;
        };
        match result {
            Ok(driver) => {
                self.open_backoff.reset();
                // What an earlier one could not give up is over once this one leaves.
                self.close_result = Ok(());
                let (calls, receiver) = mpsc::unbounded_channel();
                self.tasks.spawn(
                    "election-driver-calls",
                    run_driver_calls(Arc::clone(&driver), receiver, self.messages.clone()),
                );
                self.driver = DriverState::Open {
                    driver,
                    calls,
                    events,
                };
                if close {
                    self.driver.close();
                }
            }
            Err(_) if close => self.driver_closed(Ok(())),
            Err(error) => self.driver_failed(error),
        }
    }

    /// The election could not be entered. Contenders that wait for their start are refused, unless it may
    /// succeed later; the others are told, and it is tried again.
    fn driver_failed(&mut self, error: Error) {
        tracing::warn!(%error, "the election could not be entered");
        self.driver = DriverState::Waiting {
            retry_at: self.now() + self.open_backoff.next_delay(),
        };
        let now = self.now();
        let mut actions = Vec::new();
        for (component, entry) in &mut self.entries {
            if !error.is_retryable() && entry.started(Err(error.clone())) {
                entry.slot.begin_stop();
                actions.extend(self.machine.leave(component, now));
            } else {
                entry.slot.report(error.clone());
            }
        }
        self.apply(actions);
    }

    pub(super) fn driver_closed(&mut self, result: Result<()>) {
        self.driver = DriverState::Closed;
        // It took along what could not be removed before.
        self.close_result = Ok(());
        let actions = self.machine.driver_closed();
        for action in &actions {
            if let ElectionAction::Left(component) = action {
                self.note_left(component, result.clone(), "it ends with the session");
            }
        }
        self.apply(actions);
    }

    pub(super) fn publish(&mut self, component: ComponentId, write: u64, information: LeaderInformation) {
        let Some(driver) = self.driver.driver().cloned() else {
            return;
        };
        let messages = self.messages.clone();
        self.tasks.spawn("publish-leader-information", async move {
            let result = guarded_result(
                "publish of the election driver",
                driver.publish(&component, &information),
            )
            .await;
            let _ = messages.send(ElectionMessage::Published {
                component,
                write,
                information,
                result,
            });
        });
    }
}
