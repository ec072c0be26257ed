use std::sync::Arc;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::election::LeaderElectionService;
use ha_core::environment::Environment;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::retrieval::LeaderRetrievalService;
use ha_core::services::HighAvailabilityServices;
use ha_storage::{HaStorage, StorageDirectory};

use super::process_lock::ProcessLock;
use crate::EmbeddedHaServices;
use crate::local_stores::LocalStores;

/// HA services of one process whose data outlives it (the mode `filesystem`): the embedded election, and stores in
/// a local directory.
///
/// A lock of the operating system on the cluster's folder keeps a second process out. It is held until these
/// services, every store of theirs and every write under way are gone, and ends with the process however that
/// ends. Nothing is fenced beyond it.
///
/// It must be used inside a tokio runtime.
pub struct FilesystemHaServices {
    services: EmbeddedHaServices,
}

impl FilesystemHaServices {
    /// Opens the configured cluster's folder in `high-availability.storageDir`, and makes it when it is missing.
    ///
    /// # Errors
    /// `Invalid` when `storageDir` is missing or not local, and for other options that cannot be read; `Conflict`
    /// when another process uses the folder, or it is that of a cluster on ZooKeeper; `Denied`, `Unavailable`, `Corrupt` when it cannot be used.
    pub async fn open(configuration: &Configuration, environment: Environment) -> Result<Arc<Self>> {
        let option = HighAvailabilityOptions::HA_STORAGE_PATH;
        let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
        let storage_dir = StorageDirectory::configured(configuration, &option)?.ok_or_else(|| {
            Error::invalid("the mode filesystem needs a directory for its data")
                .at(option.key())
                .advise("set it to a local directory")
        })?;
        let storage = HaStorage::open(storage_dir, &cluster_id, &environment).await?;
        lock_cluster_folder(&storage, &environment).await?;
        // Makes it where there is none yet.
        let identity = storage.identity().await?;
        identity.expect_whole(None, storage.display("identity.json"))?;
        let stores = LocalStores::in_directory(storage, configuration).await?;
        let services = EmbeddedHaServices::over(stores, configuration, environment)?;
        Ok(Arc::new(Self { services }))
    }
}

/// Has the cluster's folder for this process alone, until the last one lets go of `storage`: what every process of the
/// mode `filesystem` does before it writes, and an operator's tool too.
///
/// # Errors
/// `Invalid` when the storage is not local; `Conflict` when another process uses the folder, or it is that of a cluster
/// on ZooKeeper; `Corrupt` when its identity cannot be read; `Denied`, `Unavailable`.
pub async fn lock_cluster_folder(storage: &HaStorage, environment: &Environment) -> Result<()> {
    let folder = storage.local_folder().ok_or_else(|| {
        Error::invalid("the mode filesystem needs a local directory")
            .at(HighAvailabilityOptions::HA_STORAGE_PATH.key())
            .advise("use a path or a file: URI")
    })?;
    storage.keep_until_dropped(ProcessLock::acquire(folder, environment).await?);
    // Refuses an identity that is unreadable or of a newer format before anything is written.
    match storage.read_identity().await?.and_then(|identity| identity.tree) {
        Some(tree) => Err(of_a_tree(storage, &tree)),
        None => Ok(()),
    }
}

/// Pointers in ZooKeeper may name these files, and checkpoints have the same names in both modes: the stores of this
/// one would take them for their own, and delete them.
fn of_a_tree(storage: &HaStorage, tree: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("the folder belongs to the cluster {tree} on ZooKeeper, whose pointers name its files"),
    )
    .at(storage.display("identity.json"))
    .not_applied()
    .advise(
        "use the mode zookeeper, or another high-availability.storageDir or cluster-id; nothing was touched",
    )
}

#[async_trait]
impl HighAvailabilityServices for FilesystemHaServices {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        self.services.leader_retriever(component)
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        self.services.leader_election(component)
    }

    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        self.services.checkpoint_recovery_factory()
    }

    fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        self.services.job_graph_store()
    }

    fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        self.services.job_result_store()
    }

    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        self.services.running_jobs_registry()
    }

    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        self.services.create_blob_store().await
    }

    fn health(&self) -> HealthMonitor {
        self.services.health()
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.services.global_cleanup(job_id).await
    }

    async fn close(&self) -> Result<()> {
        self.services.close().await
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.services.close_and_cleanup_all_data().await
    }
}

#[cfg(test)]
mod tests;
