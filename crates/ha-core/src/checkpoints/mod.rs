//! Completed checkpoints and the counter that names them.

mod checkpoint_id_counter;
mod checkpoint_recovery_factory;
mod completed_checkpoint;
mod completed_checkpoint_store;

pub use checkpoint_id_counter::CheckpointIdCounter;
pub use checkpoint_recovery_factory::CheckpointRecoveryFactory;
pub use completed_checkpoint::CompletedCheckpoint;
pub use completed_checkpoint_store::CompletedCheckpointStore;
