use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ha_services::blobs::BlobStore;
use ha_services::checkpoints::CheckpointRecoveryFactory;
use ha_services::election::LeaderElectionService;
use ha_services::health::{HealthMonitor, Recovered};
use ha_services::ids::{ComponentId, JobId};
use ha_services::jobs::{JobGraphStore, JobResultEntry, JobResultStore, RunningJobsRegistry};
use ha_services::retrieval::LeaderRetrievalService;
use ha_services::{EmbeddedHaServices, Error, ErrorKind, HighAvailabilityServices, Result, async_trait};

/// Services whose result store does not tell whether one job has ended, until it is healed.
pub(crate) struct UnansweredLookups {
    inner: Arc<EmbeddedHaServices>,
    of: JobId,
    healed: Arc<AtomicBool>,
}

impl UnansweredLookups {
    pub(crate) fn new(inner: &Arc<EmbeddedHaServices>, of: JobId) -> Self {
        Self {
            inner: Arc::clone(inner),
            of,
            healed: Arc::default(),
        }
    }

    pub(crate) fn heal(&self) {
        self.healed.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl HighAvailabilityServices for UnansweredLookups {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        self.inner.leader_retriever(component)
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        self.inner.leader_election(component)
    }

    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        self.inner.checkpoint_recovery_factory()
    }

    fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        self.inner.job_graph_store()
    }

    fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        Arc::new(Results {
            inner: self.inner.job_result_store(),
            of: self.of,
            healed: Arc::clone(&self.healed),
        })
    }

    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        self.inner.running_jobs_registry()
    }

    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        self.inner.create_blob_store().await
    }

    fn health(&self) -> HealthMonitor {
        self.inner.health()
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.inner.global_cleanup(job_id).await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.inner.close_and_cleanup_all_data().await
    }
}

struct Results {
    inner: Arc<dyn JobResultStore>,
    of: JobId,
    healed: Arc<AtomicBool>,
}

#[async_trait]
impl JobResultStore for Results {
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()> {
        self.inner.create_dirty_result(entry).await
    }

    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()> {
        self.inner.mark_result_as_clean(job_id).await
    }

    async fn has_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        if job_id == self.of && !self.healed.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Unavailable, "the storage does not answer").not_applied());
        }
        self.inner.has_job_result_entry(job_id).await
    }

    async fn has_dirty_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        self.inner.has_dirty_job_result_entry(job_id).await
    }

    async fn has_clean_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        self.inner.has_clean_job_result_entry(job_id).await
    }

    async fn job_result_entry(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        self.inner.job_result_entry(job_id).await
    }

    async fn dirty_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.inner.dirty_results().await
    }

    async fn clean_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.inner.clean_results().await
    }
}
