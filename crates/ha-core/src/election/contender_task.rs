use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::contender_slot::{ContenderSlot, NextCallback};
use super::{LeaderGrant, LeaderInformation};
use crate::environment::FatalErrorHandler;
use crate::error::Result;
use crate::guarded::{guarded, panicked};

tokio::task_local! {
    /// The contender whose callback runs, so that a `stop` inside it does not wait for itself.
    static IN_CALLBACK: Arc<ContenderSlot>;
}

/// Whether the caller is a callback of a contender that `of` accepts.
pub(super) fn in_callback(of: impl FnOnce(&Arc<ContenderSlot>) -> bool) -> bool {
    IN_CALLBACK.try_with(of).unwrap_or(false)
}

/// Runs the callbacks of one contender, in order. A panic ends the callback, not the election.
pub(super) struct ContenderTask {
    pub(super) slot: Arc<ContenderSlot>,
    pub(super) fatal: Arc<dyn FatalErrorHandler>,
    pub(super) cancelled: CancellationToken,
}

impl ContenderTask {
    pub(super) async fn run(self) {
        loop {
            let next = tokio::select! {
                () = self.cancelled.cancelled() => return,
                next = self.slot.next() => next,
            };
            let contender = &self.slot.contender;
            match next {
                NextCallback::Grant(grant) => {
                    tracing::info!(component = %self.slot.component, session = %grant.session, "leadership granted");
                    self.announce(grant);
                    self.call(
                        "grant_leadership of the contender",
                        contender.grant_leadership(grant.session),
                    )
                    .await;
                }
                NextCallback::Revoke => {
                    tracing::info!(component = %self.slot.component, "leadership revoked");
                    self.call(
                        "revoke_leadership of the contender",
                        contender.revoke_leadership(),
                    )
                    .await;
                }
                NextCallback::Error(error) => {
                    self.call("handle_error of the contender", contender.handle_error(error))
                        .await;
                }
                NextCallback::Settled(round) => self.slot.settled(round),
                NextCallback::End => return,
            }
        }
    }

    fn announce(&self, grant: LeaderGrant) {
        match address_of(&self.slot) {
            Ok(leader_address) => self.slot.announce(LeaderInformation {
                leader_address,
                leader_session_id: grant.session,
                epoch: grant.epoch,
            }),
            Err(error) => self.fatal.on_fatal_error(error),
        }
    }

    async fn call(&self, name: &'static str, callback: impl Future<Output = ()> + Send) {
        let scoped = IN_CALLBACK.scope(Arc::clone(&self.slot), callback);
        if let Err(error) = guarded(name, scoped).await {
            self.fatal.on_fatal_error(error.at(self.slot.component.as_str()));
        }
    }
}

/// The address that the contender reports.
pub(super) fn address_of(slot: &ContenderSlot) -> Result<String> {
    catch_unwind(AssertUnwindSafe(|| slot.contender.address()))
        .map_err(|_| panicked("address of the contender").at(slot.component.as_str()))
}
