//! The modes of one process: `NONE` and `filesystem`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use async_trait::async_trait;
use ha_core::configuration::{Configuration, HostPort};
use ha_core::environment::Environment;
use ha_core::error::Result;
use ha_core::ids::ClusterId;
use ha_core::services::{HighAvailabilityServices, HighAvailabilityServicesFactory};
use ha_embedded::{EmbeddedHaServices, FilesystemHaServices, StandaloneAddresses, StandaloneHaServices};
use tokio::runtime::{Handle, Id};

/// Whose services are shared: the runtime and the cluster.
type SharedKey = (Id, ClusterId);

/// The name of the factory that ships.
pub(super) const FILESYSTEM: &str = "filesystem";

/// Embedded services.
pub(super) fn services(
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    let services = EmbeddedHaServices::from_configuration(configuration, environment)?;
    Ok(services)
}

/// Standalone services with fixed addresses.
pub(super) fn standalone(
    job_manager: &HostPort,
    rest: &HostPort,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    let addresses = StandaloneAddresses {
        resource_manager: format!("http://{job_manager}"),
        dispatcher: format!("http://{job_manager}"),
        rest_server: format!("http://{rest}"),
        custom: BTreeMap::new(),
    };
    let services = StandaloneHaServices::from_configuration(addresses, configuration, environment)?;
    Ok(services)
}

/// The embedded services of a cluster id that all callers on one runtime of this process share; their tasks live
/// on that runtime. The first caller's configuration and environment hold.
pub(super) fn process_wide(
    cluster_id: &ClusterId,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    static SHARED: LazyLock<Mutex<HashMap<SharedKey, Arc<EmbeddedHaServices>>>> =
        LazyLock::new(Mutex::default);
    let key = (Handle::current().id(), cluster_id.clone());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(services) = shared.get(&key) {
        return Ok(Arc::clone(services) as Arc<dyn HighAvailabilityServices>);
    }
    let services = EmbeddedHaServices::from_configuration(configuration, environment)?;
    shared.insert(key, Arc::clone(&services));
    Ok(services)
}

/// The factory of the mode `filesystem`: embedded election, files that outlive the process.
pub(super) struct FilesystemFactory;

#[async_trait]
impl HighAvailabilityServicesFactory for FilesystemFactory {
    async fn create_ha_services(
        &self,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<dyn HighAvailabilityServices>> {
        let services = FilesystemHaServices::open(configuration, environment).await?;
        Ok(services)
    }
}
