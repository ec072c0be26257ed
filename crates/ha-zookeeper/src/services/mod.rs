//! The services as a whole, and the elections and retrievals that stand beside them.

mod closable_retrieval;
mod cluster_cleanup;
mod contender;
mod job_cleanup;
mod maintenance;
mod named_election;
mod named_retrieval;
mod settings;
mod sole_contender;
mod zookeeper_ha_services;

pub use contender::describe_this_process;
pub use maintenance::Maintenance;
pub use named_election::named_leader_election;
pub use named_retrieval::{flink_leader_retrieval, named_leader_retrieval};
pub use zookeeper_ha_services::{ServicesOptions, ZooKeeperHaServices};
