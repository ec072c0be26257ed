//! Where a cluster's storage directory and its results lie: as the configuration names them, or by `--map-path`.

use std::sync::Arc;

use ha_core::configuration::{Configuration, HighAvailabilityOptions, JobResultStoreOptions};
use ha_core::health::HealthMonitor;
use ha_core::ids::ClusterId;
use ha_core::{ErrorKind, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings, StorageDirectory};

use crate::layout::PathMappings;

/// Flink's folder of all clusters' results in the storage directory (`JobResultStoreOptions`, from 1.15 on).
const FLINK_RESULTS: &str = "job-result-store";

/// The storage directory.
pub(super) fn storage_dir(
    configuration: &Configuration,
    mappings: &PathMappings,
) -> Result<StorageDirectory> {
    let text = configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
    Ok(StorageDirectory::new(mappings.directory(&text), configuration))
}

/// Where this program keeps results, open for reading.
pub(super) async fn own_result_store(
    configuration: &Configuration,
    mappings: &PathMappings,
    storage: Arc<HaStorage>,
) -> Result<Arc<FileSystemJobResultStore>> {
    let folder = configuration.get_optional(&JobResultStoreOptions::STORAGE_PATH)?;
    open(configuration, mappings, folder, storage).await
}

/// Where results are, open for reading; `None` where Flink keeps none: before 1.15, or before the first end of a job.
pub(super) async fn result_store(
    configuration: &Configuration,
    cluster_id: &ClusterId,
    is_flinks: bool,
    mappings: &PathMappings,
    storage: Arc<HaStorage>,
) -> Result<Option<Arc<FileSystemJobResultStore>>> {
    let configured = configuration.get_optional(&JobResultStoreOptions::STORAGE_PATH)?;
    if !is_flinks || configured.is_some() {
        return open(configuration, mappings, configured, storage).await.map(Some);
    }
    let text = configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
    let text = text.trim_end_matches('/');
    let folder = format!("{text}/{FLINK_RESULTS}/{cluster_id}");
    match open(configuration, mappings, Some(folder), storage).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

async fn open(
    configuration: &Configuration,
    mappings: &PathMappings,
    folder: Option<String>,
    storage: Arc<HaStorage>,
) -> Result<Arc<FileSystemJobResultStore>> {
    let mut settings = JobResultStoreSettings::from_configuration(configuration)?;
    settings.storage_path =
        folder.map(|folder| StorageDirectory::new(mappings.directory(&folder), configuration));
    FileSystemJobResultStore::open_existing(storage, settings, HealthMonitor::default()).await
}
