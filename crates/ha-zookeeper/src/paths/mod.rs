//! Where everything stands in ZooKeeper: the only place that spells znode paths.

mod cluster_paths;

pub use cluster_paths::ClusterPaths;
