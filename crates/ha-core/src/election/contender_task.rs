use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::contender_slot::{ContenderSlot, NextCallback};
use super::{LeaderContender, LeaderGrant, LeaderInformation};
use crate::environment::FatalErrorHandler;
use crate::guarded::guarded;

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
    pub(super) contender: Arc<dyn LeaderContender>,
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
            let contender = &self.contender;
            match next {
                NextCallback::Grant(grant) => {
                    tracing::debug!(component = %self.slot.component, session = %grant.session, "leadership granted");
                    self.announce(grant);
                    self.call(
                        "grant_leadership of the contender",
                        contender.grant_leadership(grant.session),
                    )
                    .await;
                }
                NextCallback::Revoke => {
                    tracing::debug!(component = %self.slot.component, "leadership revoked");
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
        match self.slot.address() {
            Ok(leader_address) => self.slot.announce(LeaderInformation {
                leader_address,
                leader_session_id: grant.session,
                epoch: grant.epoch,
            }),
            Err(error) => self.fatal.on_fatal_error(error),
        }
    }

    async fn call(&self, name: &'static str, callback: impl Future<Output = ()> + Send) {
        let span = tracing::info_span!("ha.election", component = %self.slot.component);
        let scoped = IN_CALLBACK
            .scope(Arc::clone(&self.slot), callback)
            .instrument(span);
        if let Err(error) = guarded(name, scoped).await {
            self.fatal.on_fatal_error(error.at(self.slot.component.as_str()));
        }
    }
}
