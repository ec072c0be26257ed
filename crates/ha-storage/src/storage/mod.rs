//! The HA storage directory of one cluster.

mod cluster_identity;
mod ha_storage;
mod housekeeping;
mod location;

pub use cluster_identity::ClusterIdentity;
pub use ha_storage::HaStorage;
pub(crate) use location::Location;
