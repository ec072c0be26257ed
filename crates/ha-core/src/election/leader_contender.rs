use async_trait::async_trait;

use crate::error::Error;
use crate::ids::LeaderSessionId;

/// A component that wants to lead.
///
/// The callbacks of one service run on one task, in order. `confirm_leadership` and `has_leadership` may be
/// awaited inside any of them; `stop` inside one marks the service stopped without waiting for that callback.
/// A callback that panics or fails touches no other contender. After `stop` has returned none is called.
#[async_trait]
pub trait LeaderContender: Send + Sync + 'static {
    /// Leadership was granted for the term `session`. Usually ends with
    /// [`confirm_leadership`](super::LeaderElectionService::confirm_leadership), before which no retriever
    /// learns of this leader.
    async fn grant_leadership(&self, session: LeaderSessionId);

    /// Leadership is lost. `has_leadership` has been false since before this call; return when the component
    /// acts no more. A callback that outlasts the revoke deadline (30 s by default) is a fatal error.
    async fn revoke_leadership(&self);

    /// The address that is confirmed where the caller of `confirm_leadership` gives none.
    fn address(&self) -> String;

    /// What to call this contender where people read it; its address by default. Nothing is decided by it.
    fn description(&self) -> String {
        self.address()
    }

    /// An error of the election that the service goes on after. Fatal ones go to the
    /// [`FatalErrorHandler`](crate::environment::FatalErrorHandler) too.
    async fn handle_error(&self, error: Error);
}
