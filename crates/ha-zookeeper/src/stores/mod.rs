//! The stores: pointers in ZooKeeper to state files in the HA storage (design §8).
//!
//! State is written first, then its pointer; pointers are removed first, then their state (I5). Every write goes
//! through the [`FencedWriter`](crate::fence::FencedWriter).

mod blob_store;
mod checkpoints;
mod job_graph;
mod job_locks;
mod job_result_store;
mod orphans;
mod pointers;
mod running_jobs_registry;
mod state_files;
mod store_context;

pub use blob_store::ZooKeeperBlobStore;
pub use checkpoints::{
    CheckpointReads, ZooKeeperCheckpointIdCounter, ZooKeeperCheckpointRecoveryFactory,
    ZooKeeperCompletedCheckpointStore,
};
pub use job_graph::{JobGraphChanges, ZooKeeperJobGraphStore};
pub use job_locks::JobLocks;
pub use job_result_store::ZooKeeperJobResultStore;
pub use orphans::OrphanDetection;
pub use running_jobs_registry::ZooKeeperRunningJobsRegistry;
pub use store_context::StoreContext;

pub(crate) use checkpoints::{delete_all, delete_checkpoints, delete_counter, remove_folder};

#[cfg(test)]
mod tests;
