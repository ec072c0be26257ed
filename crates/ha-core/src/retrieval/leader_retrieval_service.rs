use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use super::LeaderRetrievalListener;
use crate::election::LeaderInformation;
use crate::error::Result;

/// Follows the leader of one component.
#[async_trait]
pub trait LeaderRetrievalService: Send + Sync + 'static {
    /// Begins to follow; the listener is told the present leader soon after.
    ///
    /// # Errors
    /// `Invalid` when it was started before, also after `stop`; `Closed` when the services are closed.
    ///
    /// # On connection loss
    /// Does not fail: the listener is told once the connection is back. While it is suspended the last leader
    /// is kept or `None` told, by `tolerate-suspended-connections`; after loss of the session always `None`.
    async fn start(&self, listener: Arc<dyn LeaderRetrievalListener>) -> Result<()>;

    /// Stops following. Idempotent. No callback is made after it has returned. May be awaited inside a callback.
    ///
    /// # Errors
    /// What the driver could not close; the service is stopped all the same.
    ///
    /// # Cancellation
    /// It is stopped nevertheless; only the wait for a callback under way is given up.
    async fn stop(&self) -> Result<()>;

    /// The leader as a watch: always the latest, intermediate states maybe. `None` before `start`;
    /// after `stop` the last one that was known.
    ///
    /// Copy out what is borrowed: this retrieval, its listener too, waits until it is let go.
    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>>;
}
