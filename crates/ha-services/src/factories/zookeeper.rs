//! The mode `zookeeper`, where the feature of that name is on.

use std::sync::Arc;

use ha_core::configuration::Configuration;
use ha_core::election::LeaderElectionService;
use ha_core::environment::Environment;
use ha_core::error::Result;
use ha_core::ids::ComponentId;
use ha_core::retrieval::LeaderRetrievalService;
use ha_core::services::HighAvailabilityServices;

use super::ProcessDescription;

#[cfg(feature = "zookeeper")]
pub(super) async fn services(
    process: ProcessDescription,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    use ha_zookeeper::services::{ServicesOptions, ZooKeeperHaServices, describe_this_process};

    let mut options = ServicesOptions::from_configuration(configuration)?;
    options.contender = describe_this_process(process.name.as_deref());
    options.session.wait_for_zookeeper = process.wait_for_zookeeper;
    let services = ZooKeeperHaServices::connect_with(options, configuration, environment).await?;
    Ok(services)
}

#[cfg(feature = "zookeeper")]
pub(super) async fn named_election(
    configuration: &Configuration,
    component: ComponentId,
    environment: Environment,
) -> Result<Arc<dyn LeaderElectionService>> {
    ha_zookeeper::services::named_leader_election(configuration, component, environment).await
}

#[cfg(feature = "zookeeper")]
pub(super) async fn named_retrieval(
    configuration: &Configuration,
    component: ComponentId,
    environment: Environment,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    ha_zookeeper::services::named_leader_retrieval(configuration, component, environment).await
}

#[cfg(not(feature = "zookeeper"))]
fn not_compiled<T>() -> Result<T> {
    use ha_core::configuration::HighAvailabilityOptions;

    Err(ha_core::Error::invalid("the mode zookeeper is not compiled in")
        .at(HighAvailabilityOptions::HA_MODE.key())
        .advise("turn on the feature `zookeeper` of the crate ha-services"))
}

#[cfg(not(feature = "zookeeper"))]
pub(super) async fn services(
    _process: ProcessDescription,
    _configuration: &Configuration,
    _environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    not_compiled()
}

#[cfg(not(feature = "zookeeper"))]
pub(super) async fn named_election(
    _configuration: &Configuration,
    _component: ComponentId,
    _environment: Environment,
) -> Result<Arc<dyn LeaderElectionService>> {
    not_compiled()
}

#[cfg(not(feature = "zookeeper"))]
pub(super) async fn named_retrieval(
    _configuration: &Configuration,
    _component: ComponentId,
    _environment: Environment,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    not_compiled()
}
