//! The HA storage directory of one cluster.

mod cluster_files;
mod cluster_identity;
mod ha_storage;
mod housekeeping;
mod location;
mod storage_base;
mod storage_directory;

pub(crate) use housekeeping::PROBE_PREFIX;

pub use cluster_files::{ClusterFiles, JobLeftovers};
pub use cluster_identity::ClusterIdentity;
pub use ha_storage::HaStorage;
pub(crate) use ha_storage::corrupt;
pub(crate) use location::Location;
pub(crate) use storage_base::StorageBase;
pub use storage_directory::StorageDirectory;

#[cfg(test)]
pub(crate) mod tests;
