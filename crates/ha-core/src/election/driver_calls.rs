use std::sync::Arc;

use tokio::sync::mpsc;

use super::LeaderElectionDriver;
use super::election_message::ElectionMessage;
use crate::error::Result;
use crate::guarded::{guarded, guarded_result};
use crate::ids::{ComponentId, LeaderSessionId};

/// A call that changes where the driver stands in its election.
pub(super) enum DriverCall {
    Revoked(LeaderSessionId),
    Withdraw(ComponentId),
    /// The same for a contender that has left.
    Clear(ComponentId),
    /// The last one.
    Close,
}

/// Makes these calls one after the other, so that the driver is never told of a next step before it is done with
/// the one before. Ends with [`DriverCall::Close`] or when nobody can call any more.
pub(super) async fn run_driver_calls(
    driver: Arc<dyn LeaderElectionDriver>,
    mut calls: mpsc::UnboundedReceiver<DriverCall>,
    messages: mpsc::UnboundedSender<ElectionMessage>,
) {
    while let Some(call) = calls.recv().await {
        let message = match call {
            DriverCall::Revoked(session) => {
                let outcome = guarded("revoked of the election driver", driver.revoked(session)).await;
                if let Err(error) = outcome {
                    tracing::error!(%error, %session, "the end of the term could not be told to the driver");
                }
                continue;
            }
            DriverCall::Withdraw(component) => {
                let result = withdraw(driver.as_ref(), &component).await;
                ElectionMessage::Withdrawn { component, result }
            }
            DriverCall::Clear(component) => {
                let result = withdraw(driver.as_ref(), &component).await;
                ElectionMessage::Cleared { component, result }
            }
            DriverCall::Close => {
                let result = guarded_result("close of the election driver", driver.close()).await;
                calls.close();
                ElectionMessage::DriverClosed(result)
            }
        };
        if messages.send(message).is_err() {
            return;
        }
    }
}

async fn withdraw(driver: &dyn LeaderElectionDriver, component: &ComponentId) -> Result<()> {
    guarded_result("withdraw of the election driver", driver.withdraw(component)).await
}
