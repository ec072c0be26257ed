use async_trait::async_trait;

use crate::election::LeaderInformation;
use crate::error::Error;

/// Is told who leads.
///
/// Calls of one service run on one task, in order. A listener that panics touches no other.
#[async_trait]
pub trait LeaderRetrievalListener: Send + Sync + 'static {
    /// The leader changed: to `Some`, or to nobody known (`None`). Never called twice in a row for equal
    /// address and session id, save that after a connection was lost and is back the same leader is told again.
    async fn notify_leader(&self, leader: Option<LeaderInformation>);

    /// Something failed, for instance unreadable leader information; the service goes on watching.
    async fn handle_error(&self, error: Error);
}
