use std::sync::Arc;

use async_trait::async_trait;

use super::{CheckpointIdCounter, CompletedCheckpointStore};
use crate::error::Result;
use crate::ids::JobId;

/// Makes the checkpoint services of a job.
#[async_trait]
pub trait CheckpointRecoveryFactory: Send + Sync + 'static {
    /// The job's completed checkpoints, recovered: what was acknowledged before is there.
    ///
    /// # Errors
    /// `Invalid` when `max_retained` is 0; `Corrupt` when the newest one is unreadable; `Unavailable`.
    async fn create_recovered_completed_checkpoint_store(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Result<Arc<dyn CompletedCheckpointStore>>;

    /// The job's counter, not started yet. Reads nothing.
    ///
    /// # Errors
    /// None that the present factories know of.
    async fn create_checkpoint_id_counter(&self, job_id: JobId) -> Result<Arc<dyn CheckpointIdCounter>>;
}
