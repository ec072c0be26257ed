use super::flink_options::WITHOUT_MEANING;
use super::not_built_options::NOT_BUILT;
use super::{ClusterOptions, HighAvailabilityOptions, JobResultStoreOptions, ObjectStoreOptions};
use crate::configuration::OptionDefinition;

/// Every option that has an effect.
static BUILT: &[&dyn OptionDefinition] = &[
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
    &JobResultStoreOptions::CLEAN_RETENTION,
    &ObjectStoreOptions::S3_ENDPOINT,
    &ObjectStoreOptions::S3_REGION,
    &ObjectStoreOptions::S3_PATH_STYLE_ACCESS,
    &ObjectStoreOptions::S3_ALLOW_HTTP,
    &ObjectStoreOptions::S3_ACCESS_KEY,
    &ObjectStoreOptions::S3_SECRET_KEY,
    &ObjectStoreOptions::S3_SESSION_TOKEN,
    &ObjectStoreOptions::S3_CONDITIONAL_PUTS,
    &ObjectStoreOptions::GS_ENDPOINT,
    &ObjectStoreOptions::GS_ALLOW_HTTP,
    &ObjectStoreOptions::GS_SERVICE_ACCOUNT_KEY,
    &ObjectStoreOptions::GS_SERVICE_ACCOUNT_KEY_FILE,
    &ObjectStoreOptions::AZURE_ACCOUNT_NAME,
    &ObjectStoreOptions::AZURE_ACCOUNT_KEY,
    &ObjectStoreOptions::AZURE_SAS_TOKEN,
    &ObjectStoreOptions::AZURE_ENDPOINT,
    &ObjectStoreOptions::AZURE_ALLOW_HTTP,
    &ClusterOptions::JOB_MANAGER_ADDRESS,
    &ClusterOptions::JOB_MANAGER_PORT,
    &ClusterOptions::REST_ADDRESS,
    &ClusterOptions::REST_PORT,
    &ClusterOptions::REST_BIND_ADDRESS,
    &ClusterOptions::MAX_RETAINED_CHECKPOINTS,
    &ClusterOptions::JOB_SLOTS,
    &ClusterOptions::SHUTDOWN_CHECKPOINT_TIMEOUT,
];

/// Every option that is known, in the order of the documentation: those that have an effect, those that are
/// recognised and refused, and the keys of Flink that have no meaning here.
pub fn all_options() -> impl Iterator<Item = &'static dyn OptionDefinition> {
    BUILT.iter().chain(NOT_BUILT).chain(WITHOUT_MEANING).copied()
}

/// The option that has this key among its keys.
pub(crate) fn find(key: &str) -> Option<&'static dyn OptionDefinition> {
    all_options().find(|option| {
        option.key() == key || option.aliases().contains(&key) || option.deprecated_keys().contains(&key)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::configuration::{Configuration, OptionSupport};

    #[test]
    fn no_key_means_two_options() {
        let mut keys = BTreeMap::new();
        for option in all_options() {
            for name in option.names() {
                assert_eq!(keys.insert(name, option.key()), None, "{name}");
            }
        }
    }

    #[test]
    fn every_default_can_be_read() {
        for option in all_options() {
            for text in [option.default_text(), option.cluster_default_text()]
                .into_iter()
                .flatten()
            {
                let configuration = Configuration::new().with(option.key(), text);
                let changed = option
                    .is_changed_in(&configuration)
                    .unwrap_or_else(|error| panic!("{}: {error}", option.key()));
                assert_eq!(changed, option.default_text() != Some(text), "{}", option.key());
            }
            assert!(
                !option.is_changed_in(&Configuration::new()).unwrap(),
                "{}",
                option.key()
            );
        }
    }

    #[test]
    fn every_option_is_described_on_one_line() {
        for option in all_options() {
            let description = option.description();
            assert!(
                !description.is_empty() && !description.contains(['\n', '|']),
                "{}",
                option.key()
            );
            assert!(!description.ends_with('.'), "{}", option.key());
        }
    }

    #[test]
    fn only_options_without_effect_lack_both_defaults_and_demand() {
        // An option that has an effect says what holds where it is not set: by a default, a derived default,
        // or by naming the modes that require it.
        for option in all_options().filter(|option| option.support() == OptionSupport::Built) {
            let says = option.default_text().is_some()
                || option.derived_default().is_some()
                || option.description().contains("required in the mode")
                || option.description().contains("in the mode NONE");
            assert!(says, "{}", option.key());
        }
    }
}
