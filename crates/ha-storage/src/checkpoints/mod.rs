//! Checkpoints and their counter as files, for the modes of one process.

mod checkpoint_files;
mod file_system_checkpoint_id_counter;
mod file_system_checkpoint_recovery_factory;
mod file_system_completed_checkpoint_store;

pub use file_system_checkpoint_recovery_factory::FileSystemCheckpointRecoveryFactory;

#[cfg(test)]
mod tests;
