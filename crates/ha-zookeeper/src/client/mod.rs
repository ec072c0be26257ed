//! The boundary below the recipes: the few ZooKeeper operations that the project uses, as a trait, so that
//! election and stores can run on the real client, on a recording one, or on one in memory.

mod node_watch;
mod operation;
mod stat;
mod zk_error;
mod zookeeper_client;

pub use node_watch::{NodeEvent, NodeWatch};
pub use operation::{CreateMode, MultiError, Operation, OperationResult};
pub use stat::Stat;
pub use zk_error::{ZkCode, ZkError, ZkResult};
pub use zookeeper_client::{ClientSource, SessionId, ZooKeeperClient};
