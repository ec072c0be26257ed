use std::sync::Arc;

use async_trait::async_trait;
use ha_core::checkpoints::{CheckpointIdCounter, CheckpointRecoveryFactory, CompletedCheckpointStore};
use ha_core::error::{Error, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;

use super::file_system_checkpoint_id_counter::FileSystemCheckpointIdCounter;
use super::file_system_completed_checkpoint_store::FileSystemCompletedCheckpointStore;
use crate::storage::HaStorage;

/// Checkpoints as files `jobs/<job-id>/checkpoints/<19-digit id>-<uuid>` and counters as files
/// `jobs/<job-id>/counter`, for the modes of one process. Several stores and counters on one storage keep the
/// contract together.
pub struct FileSystemCheckpointRecoveryFactory {
    storage: Arc<HaStorage>,
    health: HealthMonitor,
}

impl FileSystemCheckpointRecoveryFactory {
    /// A factory over the storage's cluster.
    pub fn new(storage: Arc<HaStorage>, health: HealthMonitor) -> Arc<Self> {
        Arc::new(Self { storage, health })
    }
}

#[async_trait]
impl CheckpointRecoveryFactory for FileSystemCheckpointRecoveryFactory {
    async fn create_recovered_completed_checkpoint_store(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Result<Arc<dyn CompletedCheckpointStore>> {
        if max_retained == 0 {
            return Err(Error::invalid("at least one checkpoint must be retained"));
        }
        let store = FileSystemCompletedCheckpointStore::new(
            Arc::clone(&self.storage),
            self.health.clone(),
            job_id,
            max_retained,
        );
        store.recover().await?;
        Ok(Arc::new(store))
    }

    async fn create_checkpoint_id_counter(&self, job_id: JobId) -> Result<Arc<dyn CheckpointIdCounter>> {
        Ok(Arc::new(FileSystemCheckpointIdCounter::new(
            Arc::clone(&self.storage),
            job_id,
        )))
    }
}
