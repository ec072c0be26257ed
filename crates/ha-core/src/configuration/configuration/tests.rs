use std::time::Duration;

use super::*;
use crate::configuration::{HighAvailabilityMode, HighAvailabilityOptions, JobResultStoreOptions};

const TIMEOUT: &ConfigOption<Duration> = &HighAvailabilityOptions::HA_ZOOKEEPER_SESSION_TIMEOUT;

#[test]
fn a_default_is_applied_and_a_value_is_typed() {
    assert_eq!(
        Configuration::new().get(TIMEOUT).unwrap(),
        Duration::from_secs(60)
    );
    let set = Configuration::new().with(TIMEOUT.key(), "6 s");
    assert_eq!(set.get(TIMEOUT).unwrap(), Duration::from_secs(6));
    assert_eq!(set.get_optional(TIMEOUT).unwrap(), Some(Duration::from_secs(6)));
    assert_eq!(Configuration::new().get_optional(TIMEOUT).unwrap(), None);
}

#[test]
fn an_option_without_a_default_must_be_set() {
    let error = Configuration::new()
        .get(&HighAvailabilityOptions::HA_STORAGE_PATH)
        .unwrap_err();
    assert_eq!(error.subject(), Some("high-availability.storageDir"));
    assert!(error.is_safe_to_repeat());
}

#[test]
fn an_error_names_the_key_as_written_the_text_and_its_origin() {
    let error = Configuration::new()
        .with("recovery.zookeeper.client.session-timeout", "soon")
        .get(TIMEOUT)
        .unwrap_err();
    assert_eq!(error.subject(), Some("recovery.zookeeper.client.session-timeout"));
    assert!(error.message().contains("\"soon\" (from code)"), "{error}");
}

#[test]
fn every_key_of_an_option_means_it() {
    for name in HighAvailabilityOptions::HA_MODE.names() {
        let configuration = Configuration::new().with(name, "ZooKeeper");
        assert_eq!(
            HighAvailabilityOptions::mode(&configuration).unwrap(),
            HighAvailabilityMode::ZooKeeper,
            "{name}"
        );
    }
}

#[test]
fn two_keys_of_one_option_may_agree_and_must_not_differ() {
    let agree = Configuration::new()
        .with("high-availability", "zookeeper")
        .with("high-availability.type", "ZOOKEEPER");
    assert_eq!(
        HighAvailabilityOptions::mode(&agree).unwrap(),
        HighAvailabilityMode::ZooKeeper
    );
    let differ = agree.with("recovery.mode", "NONE");
    let error = HighAvailabilityOptions::mode(&differ).unwrap_err();
    assert!(error.message().contains("recovery.mode"), "{error}");
}

#[test]
fn an_upper_layer_replaces_every_key_of_the_option() {
    let lower = Configuration::new()
        .with("recovery.mode", "zookeeper")
        .with("other", "kept");
    let both = lower.overlaid_with(Configuration::new().with("high-availability.type", "NONE"));
    assert_eq!(
        HighAvailabilityOptions::mode(&both).unwrap(),
        HighAvailabilityMode::None
    );
    assert_eq!(both.text("other"), Some("kept"));
}

#[test]
fn the_cluster_default_gives_way_to_what_is_set() {
    let option = &JobResultStoreOptions::DELETE_ON_COMMIT;
    assert!(Configuration::new().get(option).unwrap());
    assert!(!Configuration::new().with_cluster_defaults().get(option).unwrap());
    let set = Configuration::new()
        .with(option.key(), "true")
        .with_cluster_defaults();
    assert!(set.get(option).unwrap());
}

#[test]
fn a_long_text_is_cut_in_an_error() {
    let error = Configuration::new()
        .with(TIMEOUT.key(), "x".repeat(100_000))
        .get(TIMEOUT)
        .unwrap_err();
    assert!(!error.message().contains(&"x".repeat(201)));
}

#[test]
fn the_value_of_a_secret_is_never_shown() {
    let secret = "hunter2";
    let keys = [
        "high-availability.zookeeper.client.authorization",
        "zookeeper.ssl.keyStore.password",
        // Not in the table, but it sounds like a secret.
        "s3.secret-key",
        "fs.azure.account.key.x",
        "my.Password",
    ];
    let configuration: Configuration = keys.iter().map(|key| (*key, secret)).collect();
    let shown: Vec<_> = configuration.shown().collect();
    assert_eq!(shown.len(), keys.len());
    for text in [
        format!("{configuration}"),
        format!("{configuration:?}"),
        format!("{configuration:#?}"),
        format!("{shown:?}"),
    ] {
        assert!(!text.contains(secret), "{text}");
    }
    let plain = Configuration::new().with("a", "b").to_string();
    assert_eq!(plain, "a: b\n");
}

#[test]
fn the_value_of_a_secret_is_not_in_an_error() {
    let option: ConfigOption<u32> = ConfigOption::new("x.password", "a number that nobody may see").secret();
    let error = Configuration::new()
        .with("x.password", "hunter2")
        .get(&option)
        .unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
