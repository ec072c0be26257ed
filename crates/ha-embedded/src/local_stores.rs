use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::configuration::{Configuration, HighAvailabilityOptions, JobResultStoreOptions};
use ha_core::environment::{Environment, steps};
use ha_core::error::{Error, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::{JobGraphListener, JobGraphStore, JobResultStore, JobStatus, RunningJobsRegistry};
use ha_storage::{
    FileSystemCheckpointRecoveryFactory, FileSystemJobGraphStore, FileSystemJobResultStore,
    FileSystemRunningJobsRegistry, HaBlobStore, HaStorage, JobResultStoreSettings, StateKind, sweep_by_age,
};

/// The stores of one process, over one storage: in memory, or in a local directory.
pub(crate) struct LocalStores {
    storage: Arc<HaStorage>,
    results: Arc<FileSystemJobResultStore>,
    checkpoints: Arc<FileSystemCheckpointRecoveryFactory>,
    registry: Arc<FileSystemRunningJobsRegistry>,
    poll_interval: Duration,
    health: HealthMonitor,
    closed: AtomicBool,
}

impl LocalStores {
    /// Stores that live as long as this value.
    pub(crate) fn in_memory(configuration: &Configuration, environment: &Environment) -> Result<Self> {
        let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
        let storage = HaStorage::in_memory(&cluster_id, environment);
        let delete_on_commit = configuration.get(&JobResultStoreOptions::DELETE_ON_COMMIT)?;
        let health = HealthMonitor::default();
        let results =
            FileSystemJobResultStore::in_storage(Arc::clone(&storage), delete_on_commit, health.clone());
        Self::new(storage, results, configuration, health)
    }

    /// Stores in a directory.
    pub(crate) async fn in_directory(storage: Arc<HaStorage>, configuration: &Configuration) -> Result<Self> {
        let settings = JobResultStoreSettings::from_configuration(configuration)?;
        let health = HealthMonitor::default();
        let results = FileSystemJobResultStore::open(Arc::clone(&storage), settings, health.clone()).await?;
        sweep_by_age(
            &storage,
            &results,
            HighAvailabilityOptions::orphan_age(configuration)?,
        )
        .await;
        Self::new(storage, results, configuration, health)
    }

    fn new(
        storage: Arc<HaStorage>,
        results: Arc<FileSystemJobResultStore>,
        configuration: &Configuration,
        health: HealthMonitor,
    ) -> Result<Self> {
        Ok(Self {
            checkpoints: FileSystemCheckpointRecoveryFactory::new(Arc::clone(&storage), health.clone()),
            registry: FileSystemRunningJobsRegistry::new(Arc::clone(&storage), health.clone()),
            poll_interval: configuration.get(&HighAvailabilityOptions::HA_JOB_GRAPH_STORE_POLL_INTERVAL)?,
            storage,
            results,
            health,
            closed: AtomicBool::new(false),
        })
    }

    pub(crate) fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        Arc::clone(&self.checkpoints) as Arc<dyn CheckpointRecoveryFactory>
    }

    /// A fresh, not yet started store.
    pub(crate) fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        FileSystemJobGraphStore::new(
            Arc::clone(&self.storage),
            self.job_result_store(),
            self.poll_interval,
            self.health.clone(),
        )
    }

    pub(crate) fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        Arc::clone(&self.results) as Arc<dyn JobResultStore>
    }

    pub(crate) fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        Arc::clone(&self.registry) as Arc<dyn RunningJobsRegistry>
    }

    pub(crate) fn blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        self.check_open()?;
        Ok(HaBlobStore::new(Arc::clone(&self.storage)))
    }

    pub(crate) fn health(&self) -> HealthMonitor {
        self.health.clone()
    }

    /// Refuses what is asked for afterwards. Deletes nothing.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the HA services"));
        }
        Ok(())
    }

    /// Deletes what is kept of a job whose end is recorded, but its result: checkpoints and counter, job graph,
    /// blobs, registry. Each step may be repeated.
    ///
    /// # Errors
    /// `Invalid` when no end is recorded; the first failure of a step.
    pub(crate) async fn clean_up_job(&self, job_id: JobId) -> Result<()> {
        self.check_open()?;
        let environment = self.storage.environment();
        if !self.results.has_job_result_entry(job_id).await? {
            return Err(Error::invalid(format!(
                "no end of the job {job_id} is recorded, so it keeps its data"
            ))
            .advise("record its result first"));
        }
        // Not through the store of completed checkpoints: an unreadable one keeps nothing alive.
        for checkpoint in self
            .storage
            .list_states(StateKind::Checkpoint, Some(job_id))
            .await?
        {
            let deleting = self.storage.delete(&checkpoint.path);
            environment.step(steps::REMOVE_CHECKPOINT_FILE, deleting).await?;
        }
        // How the job ended does not matter, only that it did.
        let counter = self.checkpoints.create_checkpoint_id_counter(job_id).await?;
        counter.shutdown(JobStatus::Finished).await?;
        let graphs = self.job_graph_store();
        graphs.start(Arc::new(Deaf)).await?;
        graphs.remove_job_graph(job_id).await?;
        graphs.stop().await?;
        HaBlobStore::new(Arc::clone(&self.storage))
            .delete_all(job_id)
            .await?;
        let leftovers = self.storage.job_leftovers(job_id).await?;
        let deleting = self.storage.delete_job_leftovers(job_id, &leftovers);
        environment.step(steps::REMOVE_LEFTOVERS, deleting).await?;
        self.registry.clear_job(job_id).await
    }

    /// Deletes all files of this cluster. Other files are left, and reported.
    ///
    /// # Errors
    /// `Conflict` with the paths of what is left there; the first failure.
    pub(crate) async fn delete_all(&self) -> Result<()> {
        let left = self.storage.delete_cluster_files().await?;
        let results = self.results.delete_all_results().await?;
        results.none_beside(left, self.storage.uri())
    }
}

/// Listens to no changes.
struct Deaf;

#[async_trait]
impl JobGraphListener for Deaf {
    async fn on_added_job_graph(&self, _job_id: JobId) {}

    async fn on_removed_job_graph(&self, _job_id: JobId) {}
}
