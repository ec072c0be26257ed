use std::future::Future;
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use super::contender_slot::{ContenderSlot, NextCallback};
use super::{LeaderContender, LeaderGrant, LeaderInformation};
use crate::environment::{FatalErrorHandler, TaskScope};
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
    slot: Arc<ContenderSlot>,
    contender: Arc<dyn LeaderContender>,
    fatal: Arc<dyn FatalErrorHandler>,
    cancelled: CancellationToken,
    /// Ends what shows the followers what is announced, with this task.
    _announcing: DropGuard,
}

impl ContenderTask {
    /// Starts it, and beside it what shows the followers what is announced.
    pub(super) fn start(
        slot: &Arc<ContenderSlot>,
        contender: Arc<dyn LeaderContender>,
        fatal: Arc<dyn FatalErrorHandler>,
        tasks: &TaskScope,
    ) {
        let ended = CancellationToken::new();
        let task = Self {
            slot: Arc::clone(slot),
            contender,
            fatal,
            cancelled: tasks.cancellation(),
            _announcing: ended.clone().drop_guard(),
        };
        let announced = Arc::clone(slot);
        tasks.spawn("leadership-announcements", async move {
            announced.show_announcements(ended).await;
        });
        tasks.spawn("leader-contender", task.run());
    }

    async fn run(self) {
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
                    self.seen().await;
                    self.call(
                        "grant_leadership of the contender",
                        contender.grant_leadership(grant.session),
                    )
                    .await;
                }
                NextCallback::Revoke => {
                    tracing::debug!(component = %self.slot.component, "leadership revoked");
                    self.seen().await;
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

    /// Followers see the term before it is granted, and its end before it is revoked.
    async fn seen(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.slot.seen() => {}
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
