use std::sync::Arc;
use std::time::Duration;

use ha_core::Result;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_storage::{HaStorage, JobResultStoreSettings, StorageDirectory};

use crate::paths::ClusterPaths;

/// What of the configuration the services need, checked.
pub(super) struct Settings {
    pub(super) cluster_id: ClusterId,
    pub(super) paths: ClusterPaths,
    storage_dir: StorageDirectory,
    pub(super) results: JobResultStoreSettings,
    pub(super) revoke_timeout: Duration,
    pub(super) orphan_age: Duration,
}

impl Settings {
    /// Opens the storage of the cluster.
    pub(super) async fn open_storage(&self, environment: &Environment) -> Result<Arc<HaStorage>> {
        HaStorage::open(self.storage_dir.clone(), &self.cluster_id, environment).await
    }

    /// The same for what is there already: makes nothing.
    pub(super) async fn open_existing_storage(&self, environment: &Environment) -> Result<Arc<HaStorage>> {
        HaStorage::open_existing(self.storage_dir.clone(), &self.cluster_id, environment).await
    }

    pub(super) fn read(configuration: &Configuration) -> Result<Self> {
        let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
        Ok(Self {
            paths: paths_of(configuration, &cluster_id)?,
            cluster_id,
            storage_dir: storage_dir_of(configuration)?,
            results: JobResultStoreSettings::from_configuration(configuration)?,
            revoke_timeout: configuration.get(&HighAvailabilityOptions::HA_REVOKE_TIMEOUT)?,
            orphan_age: HighAvailabilityOptions::orphan_age(configuration)?,
        })
    }
}

pub(super) fn paths_of(configuration: &Configuration, cluster_id: &ClusterId) -> Result<ClusterPaths> {
    let quorum = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM)?;
    let root = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_ROOT)?;
    ClusterPaths::new(&quorum.chroot, root.as_str(), cluster_id)
}

pub(super) fn storage_dir_of(configuration: &Configuration) -> Result<StorageDirectory> {
    let text = configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
    Ok(StorageDirectory::new(text, configuration))
}
