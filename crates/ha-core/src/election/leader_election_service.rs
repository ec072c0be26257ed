use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use super::{LeaderContender, LeaderInformation};
use crate::error::Result;
use crate::ids::LeaderSessionId;

/// Takes part in the election of the leader of one component.
///
/// Dropping a started service does not leave the election: the contender stands there until the service is stopped,
/// or the election is closed or dropped.
#[async_trait]
pub trait LeaderElectionService: Send + Sync + 'static {
    /// Enters the election with `contender`.
    ///
    /// # Errors
    /// `Invalid` when it was started before, also after `stop`; `AlreadyExists` when another contender of
    /// this process stands for the component; `Closed` when the services are closed.
    ///
    /// # Cancellation
    /// A start that is dropped half-way is a `stop`: what was begun is given up in the background. Call `stop` to
    /// wait for that.
    ///
    /// # On connection loss
    /// Does not fail: the contender waits until the connection is back.
    async fn start(&self, contender: Arc<dyn LeaderContender>) -> Result<()>;

    /// Leaves the election: `has_leadership` is false, the contender is revoked if it led, then leadership is
    /// given up at once, so that the next leader need not wait for the session to expire. Idempotent. No
    /// callback is made after it has returned. May be awaited inside a callback.
    ///
    /// # Errors
    /// `Unavailable` when leadership could not be given up in the outside system; that is tried again as long as other
    /// components of this process lead, and it ends there with the session. The service is stopped all the same.
    ///
    /// # Cancellation
    /// A cancelled stop goes on in the background.
    async fn stop(&self) -> Result<()>;

    /// Publishes `address` (`None`: [`LeaderContender::address`]) as the leader's address of the term `session`.
    /// A stale session is ignored: the call returns `Ok(false)` and nothing is written.
    ///
    /// # Errors
    /// `Invalid` for an address that is too long; `Closed` after `stop`; `Unavailable` when the outcome could
    /// not be read back in time (the service publishes it once it can).
    ///
    /// # Fencing
    /// The write is conditional on the latch at the version of this grant.
    async fn confirm_leadership(&self, session: LeaderSessionId, address: Option<&str>) -> Result<bool>;

    /// Whether this contender leads in the term `session`, at this instant. False from the moment the lease
    /// runs out, whatever the runtime or callbacks are doing.
    async fn has_leadership(&self, session: LeaderSessionId) -> bool;

    /// Follows this contender's own leadership: `Some` from before `grant_leadership` is called, `None` from
    /// before `revoke_leadership` is called. Always the latest, intermediate states maybe.
    ///
    /// The callbacks of this contender wait for a follower that does not let go of what it borrowed; nothing else does,
    /// and [`LeaderElectionService::has_leadership`] is false in time whatever a follower does.
    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>>;
}
