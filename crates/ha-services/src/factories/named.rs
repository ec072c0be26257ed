use std::sync::Arc;

use ha_core::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
use ha_core::election::LeaderElectionService;
use ha_core::environment::Environment;
use ha_core::error::{Error, Result};
use ha_core::ids::ComponentId;
use ha_core::retrieval::LeaderRetrievalService;
use ha_core::services::HighAvailabilityServices;

use super::create::{checked_mode, not_built};
use super::{embedded, zookeeper};

/// Makes the election of a component of the caller's own, apart from the cluster's.
///
/// On ZooKeeper it has its own session and its own latch (`leader/latch-<name>`); `stop` gives both up, and it
/// does not fence the stores of this process. In the modes `NONE` and `filesystem`, which are one process, the
/// contenders of this process for the name elect one of them.
///
/// # Errors
/// `Invalid` for the configuration or the name, or in the mode of a registered factory (its services have
/// `leader_election`); `Unavailable` when ZooKeeper or the storage cannot be reached.
pub async fn create_leader_election_service(
    configuration: &Configuration,
    service_name: &str,
    environment: Environment,
) -> Result<Arc<dyn LeaderElectionService>> {
    let component = ComponentId::custom(service_name)?;
    match checked_mode(configuration)? {
        HighAvailabilityMode::ZooKeeper => {
            zookeeper::named_election(configuration, component, environment).await
        }
        mode => Ok(process_wide(&mode, configuration, environment)?.leader_election(component)),
    }
}

/// Follows the leader of a component of the caller's own, or of one of the cluster's (`dispatcher`,
/// `resource_manager`, `rest_server`), by name. It reads only.
///
/// On ZooKeeper it has its own session, which `stop` closes. In the modes `NONE` and `filesystem` it follows the
/// elections that [`create_leader_election_service`] made in this process.
///
/// # Errors
/// Those of [`create_leader_election_service`].
pub async fn create_leader_retrieval_service(
    configuration: &Configuration,
    service_name: &str,
    environment: Environment,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    let component = ComponentId::custom(service_name)?;
    match checked_mode(configuration)? {
        HighAvailabilityMode::ZooKeeper => {
            zookeeper::named_retrieval(configuration, component, environment).await
        }
        mode => Ok(process_wide(&mode, configuration, environment)?.leader_retriever(component)),
    }
}

/// The embedded services that the named elections of one cluster id share in this process.
fn process_wide(
    mode: &HighAvailabilityMode,
    configuration: &Configuration,
    environment: Environment,
) -> Result<Arc<dyn HighAvailabilityServices>> {
    match mode {
        HighAvailabilityMode::None => {}
        HighAvailabilityMode::Factory(name) if name.eq_ignore_ascii_case(embedded::FILESYSTEM) => {}
        HighAvailabilityMode::Factory(name) => {
            return Err(
                Error::invalid(format!("named elections are not built for the factory {name:?}"))
                    .at(HighAvailabilityOptions::HA_MODE.key())
                    .advise("use `leader_election` and `leader_retriever` of its services"),
            );
        }
        other => return Err(not_built(other)),
    }
    let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
    embedded::process_wide(&cluster_id, configuration, environment)
}
