use super::{ClusterOptions, HighAvailabilityOptions, JobResultStoreOptions};
use crate::configuration::OptionDefinition;

/// Every option that is known, in the order of the documentation.
static ALL: &[&dyn OptionDefinition] = &[
    &HighAvailabilityOptions::HA_MODE,
    &HighAvailabilityOptions::HA_CLUSTER_ID,
    &HighAvailabilityOptions::HA_STORAGE_PATH,
    &HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM,
    &HighAvailabilityOptions::HA_ZOOKEEPER_ROOT,
    &HighAvailabilityOptions::HA_ZOOKEEPER_SESSION_TIMEOUT,
    &HighAvailabilityOptions::HA_ZOOKEEPER_CONNECTION_TIMEOUT,
    &HighAvailabilityOptions::HA_ZOOKEEPER_RETRY_WAIT,
    &HighAvailabilityOptions::HA_ZOOKEEPER_MAX_RETRY_ATTEMPTS,
    &HighAvailabilityOptions::HA_ZOOKEEPER_TOLERATE_SUSPENDED_CONNECTIONS,
    &HighAvailabilityOptions::HA_ZOOKEEPER_SERVER_TICK_TIME,
    &HighAvailabilityOptions::HA_REVOKE_TIMEOUT,
    &HighAvailabilityOptions::HA_JOB_GRAPH_STORE_POLL_INTERVAL,
    &HighAvailabilityOptions::HA_ORPHAN_AGE,
    &JobResultStoreOptions::STORAGE_PATH,
    &JobResultStoreOptions::DELETE_ON_COMMIT,
    &ClusterOptions::JOB_MANAGER_ADDRESS,
    &ClusterOptions::JOB_MANAGER_PORT,
    &ClusterOptions::REST_ADDRESS,
    &ClusterOptions::REST_PORT,
    &ClusterOptions::REST_BIND_ADDRESS,
    &ClusterOptions::MAX_RETAINED_CHECKPOINTS,
    &ClusterOptions::SHUTDOWN_CHECKPOINT_TIMEOUT,
];

/// Every option that is known, in the order of the documentation.
pub fn all_options() -> &'static [&'static dyn OptionDefinition] {
    ALL
}

/// The option that has this key among its keys.
pub(crate) fn find(key: &str) -> Option<&'static dyn OptionDefinition> {
    ALL.iter().copied().find(|option| option.names().contains(&key))
}
