use std::sync::Arc;

use async_trait::async_trait;
use ha_core::Result;
use ha_core::checkpoints::{CheckpointIdCounter, CheckpointRecoveryFactory, CompletedCheckpointStore};
use ha_core::ids::JobId;

use super::{ZooKeeperCheckpointIdCounter, ZooKeeperCompletedCheckpointStore};
use crate::stores::StoreContext;

/// Makes the checkpoint services of jobs in ZooKeeper.
pub struct ZooKeeperCheckpointRecoveryFactory {
    context: StoreContext,
}

impl ZooKeeperCheckpointRecoveryFactory {
    /// The factory of the cluster of `context`.
    pub const fn new(context: StoreContext) -> Self {
        Self { context }
    }
}

#[async_trait]
impl CheckpointRecoveryFactory for ZooKeeperCheckpointRecoveryFactory {
    async fn create_recovered_completed_checkpoint_store(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Result<Arc<dyn CompletedCheckpointStore>> {
        let store =
            ZooKeeperCompletedCheckpointStore::recover(self.context.clone(), job_id, max_retained).await?;
        Ok(Arc::new(store))
    }

    async fn create_checkpoint_id_counter(&self, job_id: JobId) -> Result<Arc<dyn CheckpointIdCounter>> {
        Ok(Arc::new(ZooKeeperCheckpointIdCounter::new(
            self.context.clone(),
            job_id,
        )))
    }
}
