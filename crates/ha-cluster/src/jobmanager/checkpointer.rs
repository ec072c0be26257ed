use std::sync::Arc;

use bytes::Bytes;
use ha_services::Result;
use ha_services::checkpoints::{CheckpointIdCounter, CompletedCheckpoint, CompletedCheckpointStore};
use ha_services::environment::Clock;
use ha_services::ids::{CheckpointId, JobId};
use ha_services::services::HighAvailabilityServices;

/// The checkpoints of one job in one term.
pub(super) struct Checkpointer {
    job_id: JobId,
    clock: Arc<dyn Clock>,
    counter: Arc<dyn CheckpointIdCounter>,
    store: Arc<dyn CompletedCheckpointStore>,
}

impl Checkpointer {
    /// Recovers the job's checkpoints and its counter, and gives the newest checkpoint. May be repeated.
    ///
    /// # Errors
    /// `Corrupt` when the newest one cannot be read: an older one is never taken silently.
    pub(super) async fn recover(
        services: &dyn HighAvailabilityServices,
        clock: Arc<dyn Clock>,
        job_id: JobId,
        max_retained: usize,
    ) -> Result<(Self, Option<CompletedCheckpoint>)> {
        let factory = services.checkpoint_recovery_factory();
        let store = factory
            .create_recovered_completed_checkpoint_store(job_id, max_retained)
            .await?;
        let latest = store.latest().await?;
        let counter = factory.create_checkpoint_id_counter(job_id).await?;
        counter.start().await?;
        let checkpointer = Self {
            job_id,
            clock,
            counter,
            store,
        };
        Ok((checkpointer, latest))
    }

    /// Stores a checkpoint. It is acknowledged when this returns its id. After a failure of whatever kind the
    /// next one takes a new id; one whose outcome is unknown counts or not, and both are right.
    pub(super) async fn take(&self, payload: Bytes) -> Result<CheckpointId> {
        let checkpoint_id = self.counter.get_and_increment().await?;
        self.store
            .add_and_subsume(CompletedCheckpoint {
                job_id: self.job_id,
                checkpoint_id,
                timestamp: self.clock.wall_time_millis(),
                payload,
            })
            .await?;
        Ok(checkpoint_id)
    }
}
