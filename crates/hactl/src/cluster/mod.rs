//! The cluster that a command reads: opened from the configuration, read-only.

mod cluster;
mod files;
mod flink;
mod followed;
mod identity;
mod layout_detection;
mod listing;
mod nodes;
mod opening;
mod places;
mod stored;
mod stored_in_files;
mod stored_in_zookeeper;

pub use cluster::{Backend, Cluster, ClusterHeader, ReadingOptions};
pub(crate) use files::{FoundFile, millis, walk};
pub(crate) use flink::{
    Fault, FlinkBlob, FlinkContender, FlinkLeader, Looked, blobs as flink_blobs, leaders as flink_leaders,
    look, place as flink_place, summary as flink_summary,
};
pub(crate) use followed::FollowedCluster;
pub(crate) use nodes::{Node, Nodes};
pub(crate) use stored::{JobPlace, StoredCheckpoint, StoredGraph, StoredJobs, foreign};
