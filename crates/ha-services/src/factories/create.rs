use std::sync::Arc;

use ha_core::configuration::{
    Configuration, HighAvailabilityMode, HighAvailabilityOptions, JobResultStoreOptions,
};
use ha_core::environment::Environment;
use ha_core::error::{Error, Result};
use ha_core::services::{AddressResolution, HighAvailabilityServices};
use ha_storage::HaStorage;

use super::{FactoryRegistry, ProcessDescription, embedded, zookeeper};
use crate::address::{job_manager_address, resolve, rest_address};

/// Makes the services of the configured mode; embedded ones in the mode `NONE`, where every component of this
/// process elects among its own contenders.
///
/// The whole configuration is checked before anything is contacted.
///
/// # Errors
/// `Invalid` for the configuration, the mode `KUBERNETES` (not built), or a mode that nobody registered;
/// `Unavailable` when ZooKeeper or the storage cannot be reached.
///
/// # Cancellation
/// A dropped call leaves no data; a session that was being opened ends by its timeout.
pub async fn create_available_or_embedded_services(
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    create_available_or_embedded_services_for(ProcessDescription::default(), configuration, environment).await
}

/// The same for a process that has a name.
///
/// # Errors
/// Those of [`create_available_or_embedded_services`].
pub async fn create_available_or_embedded_services_for(
    process: ProcessDescription,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    match checked_mode(configuration)? {
        HighAvailabilityMode::None => embedded::services(configuration, environment),
        mode => outside_services(mode, process, configuration, environment).await,
    }
}

/// Makes the services of the configured mode; standalone ones in the mode `NONE`, where the one job manager has
/// the configured address (`jobmanager.rpc.address`, `rest.address`).
///
/// # Errors
/// Those of [`create_available_or_embedded_services`]; in the mode `NONE` also `Invalid` when no address is
/// configured, and `Unavailable` when it is to be resolved and cannot be.
pub async fn create_high_availability_services(
    configuration: &Configuration,
    address_resolution: AddressResolution,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    match checked_mode(configuration)? {
        HighAvailabilityMode::None => {
            let job_manager = job_manager_address(configuration)?;
            let rest = rest_address(configuration)?;
            for address in [&job_manager, &rest] {
                resolve(address, address_resolution).await?;
            }
            embedded::standalone(&job_manager, &rest, configuration, environment)
        }
        mode => outside_services(mode, ProcessDescription::default(), configuration, environment).await,
    }
}

/// The mode of a configuration that is right in every respect that needs nothing outside.
pub(super) fn checked_mode(configuration: &Configuration) -> Result<HighAvailabilityMode> {
    for warning in HighAvailabilityOptions::validate(configuration)? {
        tracing::warn!("{warning}");
    }
    for option in [
        &HighAvailabilityOptions::HA_STORAGE_PATH,
        &JobResultStoreOptions::STORAGE_PATH,
    ] {
        if let Some(location) = configuration.get_optional(option)? {
            HaStorage::check_location(&location)?;
        }
    }
    HighAvailabilityOptions::mode(configuration)
}

async fn outside_services(
    mode: HighAvailabilityMode,
    process: ProcessDescription,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    match mode {
        HighAvailabilityMode::ZooKeeper => zookeeper::services(process, configuration, environment).await,
        HighAvailabilityMode::Factory(name) => {
            let factory = FactoryRegistry::global().find(&name)?;
            factory.create_ha_services(configuration, environment).await
        }
        other => Err(not_built(&other)),
    }
}

/// The error of a mode that is recognised and that this build does not have.
pub(super) fn not_built(mode: &HighAvailabilityMode) -> Error {
    Error::invalid(format!("the mode {mode} is not built"))
        .at(HighAvailabilityOptions::HA_MODE.key())
        .advise("use NONE, zookeeper, filesystem, or a registered factory")
}
