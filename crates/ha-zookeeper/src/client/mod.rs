//! The boundary below the recipes: the few ZooKeeper operations that the project uses, as a trait, so that
//! election and stores can run on the real client, on a recording one, or on the one of a server in memory (module
//! `memory`, with the feature `testing`).

mod classify;
mod connect;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
mod node_watch;
mod operation;
mod request_size;
mod stat;
mod wire_client;
mod zk_error;
mod zookeeper_client;

pub(crate) use connect::attach_client;
pub use connect::connect_client;
pub use node_watch::{NodeEvent, NodeWatch};
pub use operation::{CreateMode, MultiError, Operation, OperationResult};
pub use stat::Stat;
pub use wire_client::WireClient;
pub use zk_error::{ZkCode, ZkError, ZkResult};
pub use zookeeper_client::{ClientSource, SessionId, ZooKeeperClient};
