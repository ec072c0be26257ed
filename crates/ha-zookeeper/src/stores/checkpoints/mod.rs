//! Completed checkpoints and the counter that names them, below `jobs/<job-id>`.

mod checkpoint_files;
mod checkpoint_id_counter;
mod checkpoint_reads;
mod checkpoint_recovery_factory;
mod completed_checkpoint_store;
mod job_checkpoints;
mod retained;

pub use checkpoint_id_counter::ZooKeeperCheckpointIdCounter;
pub use checkpoint_reads::CheckpointReads;
pub use checkpoint_recovery_factory::ZooKeeperCheckpointRecoveryFactory;
pub use completed_checkpoint_store::ZooKeeperCompletedCheckpointStore;
pub(crate) use job_checkpoints::{delete_all, delete_checkpoints, delete_counter, remove_folder};
