use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::Result as HaResult;

use super::{CreateMode, MultiError, NodeWatch, Operation, OperationResult, Stat, ZkResult};

/// The id of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// One session's client. It never changes its session: after an expiry there is a new client, and nothing that
/// the old one answered holds.
///
/// # Ordering
/// An operation is sent when its future is first polled; the server handles the operations of one client in the
/// order in which they were sent. `futures::join!` polls, and so sends, from left to right.
///
/// # Cancellation
/// A dropped future's operation is still carried out, now or after a reconnect.
///
/// # On connection loss
/// Operations in flight fail with an unknown effect; those sent while the connection is down wait for it.
#[async_trait]
pub trait ZooKeeperClient: Send + Sync + 'static {
    /// The session.
    fn session_id(&self) -> SessionId;

    /// The data and Stat of a node.
    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)>;

    /// The same, with a watch on data and deletion. On `NoNode` no watch is registered.
    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)>;

    /// The Stat of a node, `None` when it is not there.
    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>>;

    /// The same, with a watch on creation, data and deletion.
    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)>;

    /// The names of a node's children, in no order, and the node's Stat.
    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)>;

    /// The same, with a watch on the set of names and on deletion.
    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)>;

    /// Creates a node; gives its path, with the sequence number where it is sequential.
    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String>;

    /// Sets a node's data; `None` for any version.
    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat>;

    /// Deletes a node; `None` for any version.
    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()>;

    /// Waits until this client's server has seen all that its leader has. Proves nothing about the quorum.
    async fn sync(&self, path: &str) -> ZkResult<()>;

    /// Applies all operations, or none.
    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError>;

    /// Reads many nodes at one moment, one result a path. At most a few hundred paths a call: the reply must stay
    /// below the server's limit of 1 MiB.
    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>>;

    /// Lists many nodes at one moment, one result a path, within the same limit.
    async fn multi_list(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<Vec<String>>>>;
}

/// Gives the client of the present session.
#[async_trait]
pub trait ClientSource: Send + Sync + 'static {
    /// The client, once it is connected to a server that can write. Never keep it over an await on anything
    /// else than its own operations: after an expiry there is another one.
    ///
    /// # Errors
    /// `Unavailable` (not applied) when there was none within one session timeout; `Closed` after the close.
    async fn client(&self) -> HaResult<Arc<dyn ZooKeeperClient>>;
}
