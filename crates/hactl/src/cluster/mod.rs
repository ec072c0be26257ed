//! The cluster that a command reads: opened from the configuration, read-only.

mod cluster;
mod files;
mod identity;
mod listing;
mod nodes;
mod stored;
mod stored_in_files;
mod stored_in_zookeeper;

pub use cluster::{Backend, Cluster, ClusterHeader};
pub(crate) use files::{FoundFile, millis, walk};
pub(crate) use nodes::{Node, Nodes};
pub(crate) use stored::{JobPlace, StoredCheckpoint, StoredJobs};
