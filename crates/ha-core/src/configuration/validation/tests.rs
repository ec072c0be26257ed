use super::*;
use crate::configuration::ClusterOptions;

fn zookeeper() -> Configuration {
    Configuration::new()
        .with("high-availability", "zookeeper")
        .with("high-availability.cluster-id", "c1")
        .with("high-availability.storageDir", "/var/ha")
        .with("high-availability.zookeeper.quorum", "a:2181,b:2181/x")
}

/// The key that the error names.
fn refused(configuration: &Configuration) -> String {
    let error = HighAvailabilityOptions::validate(configuration).unwrap_err();
    assert!(error.is_safe_to_repeat(), "{error}");
    error.subject().unwrap_or_default().to_owned()
}

fn warnings(configuration: &Configuration) -> Vec<String> {
    HighAvailabilityOptions::validate(configuration).unwrap()
}

#[test]
fn nothing_set_is_fine_and_so_is_a_whole_zookeeper_configuration() {
    assert!(warnings(&Configuration::new()).is_empty());
    assert!(warnings(&Configuration::new().with_cluster_defaults()).is_empty());
    assert!(warnings(&zookeeper()).is_empty());
}

#[test]
fn zookeeper_mode_requires_storage_and_quorum() {
    let without = |left_out: &str| -> Configuration {
        let all = zookeeper();
        all.keys()
            .filter(|key| *key != left_out)
            .map(|key| (key, all.text(key).unwrap()))
            .collect()
    };
    for key in [
        "high-availability.storageDir",
        "high-availability.zookeeper.quorum",
    ] {
        assert_eq!(refused(&without(key)), key);
        assert_eq!(refused(&without(key).with(key, " ")), key);
    }
}

#[test]
fn filesystem_mode_requires_a_local_directory() {
    let mode = Configuration::new()
        .with("high-availability.type", "filesystem")
        .with("high-availability.cluster-id", "c1");
    let key = "high-availability.storageDir";
    assert_eq!(refused(&mode), key);
    for remote in ["s3://bucket/x", "memory:///"] {
        assert_eq!(refused(&mode.clone().with(key, remote)), key, "{remote}");
    }
    for local in ["/var/ha", "ha", "file:///var/ha"] {
        assert!(warnings(&mode.clone().with(key, local)).is_empty(), "{local}");
    }
}

#[test]
fn kubernetes_is_not_built_and_other_names_are_left_to_their_factory() {
    assert_eq!(
        refused(&Configuration::new().with("high-availability", "KUBERNETES")),
        "high-availability"
    );
    let mine = Configuration::new()
        .with("high-availability", "org.example.Mine")
        .with("high-availability.cluster-id", "c1");
    assert!(warnings(&mine).is_empty());
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let error =
        HighAvailabilityOptions::validate(&Configuration::new().with("high-availability.storagedir", "/x"))
            .unwrap_err();
    assert_eq!(error.subject(), Some("high-availability.storagedir"));
    assert!(
        error
            .advice()
            .contains("did you mean high-availability.storageDir?"),
        "{error}"
    );
    // Keys of others are none of ours.
    assert!(warnings(&Configuration::new().with("taskmanager.numberOfTaskSlots", "x")).is_empty());
}

#[test]
fn every_option_is_checked_in_every_mode() {
    for (key, bad) in [
        ("high-availability.cluster-id", "../x"),
        ("high-availability.zookeeper.quorum", "a:b"),
        ("high-availability.zookeeper.path.root", "/a//b"),
        ("high-availability.zookeeper.client.session-timeout", "soon"),
        ("high-availability.zookeeper.client.session-timeout", "0"),
        ("high-availability.zookeeper.client.session-timeout", "30 d"),
        ("high-availability.zookeeper.client.connection-timeout", "0 s"),
        ("high-availability.zookeeper.client.max-retry-attempts", "-1"),
        (
            "high-availability.zookeeper.client.tolerate-suspended-connections",
            "no",
        ),
        ("high-availability.zookeeper.server-tick-time", "0"),
        ("high-availability.revoke-timeout", "0"),
        ("high-availability.orphan-age", "1 min"),
        ("high-availability.storageDir", "ftp://x/y"),
        ("job-result-store.delete-on-commit", "maybe"),
        ("state.checkpoints.num-retained", "0"),
        ("rest.port", "65536"),
    ] {
        for configuration in [Configuration::new(), zookeeper()] {
            assert_eq!(refused(&configuration.with(key, bad)), key, "{bad}");
        }
    }
}

#[test]
fn two_keys_of_one_option_with_different_values_are_refused_in_every_mode() {
    let configuration = Configuration::new()
        .with("high-availability.cluster-id", "a")
        .with("high-availability.zookeeper.path.namespace", "/b");
    assert_eq!(refused(&configuration), "high-availability.cluster-id");
    let same = Configuration::new()
        .with("high-availability.cluster-id", "a")
        .with("high-availability.zookeeper.path.namespace", "/a");
    assert_eq!(warnings(&same).len(), 1, "a deprecated key");
}

#[test]
fn what_would_protect_and_is_not_built_is_refused_unless_it_asks_for_nothing() {
    for (key, value) in [
        ("high-availability.zookeeper.client.acl", "creator"),
        ("high-availability.zookeeper.client.acl", "createor"),
        ("high-availability.zookeeper.client.authorization", "digest:u:p"),
        ("zookeeper.client.secure", "true"),
        ("security.ssl.rest.enabled", "true"),
        ("security.kerberos.login.contexts", "Client"),
    ] {
        let error = HighAvailabilityOptions::validate(&zookeeper().with(key, value)).unwrap_err();
        assert_eq!(error.subject(), Some(key));
        assert!(error.message().starts_with("not built"), "{error}");
        assert!(!error.to_string().contains("digest"), "{error}");
    }
    for (key, value) in [
        ("high-availability.zookeeper.client.acl", "open"),
        ("zookeeper.client.secure", "false"),
        ("zookeeper.sasl.service-name", "zookeeper"),
    ] {
        assert!(warnings(&zookeeper().with(key, value)).is_empty(), "{key}");
    }
}

#[test]
fn keys_of_flink_without_a_meaning_give_one_warning_and_deprecated_ones_name_the_new() {
    let warned = warnings(
        &zookeeper()
            .with("high-availability.zookeeper.path.jobgraphs", "/jobgraphs")
            .with("high-availability.jobmanager.port", "50000-50100")
            .with("recovery.zookeeper.path.root", "/flink"),
    );
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert_eq!(
        warned[0],
        "recovery.zookeeper.path.root is deprecated; use high-availability.zookeeper.path.root"
    );
    assert!(
        warned[1].contains("path.jobgraphs") && warned[1].contains("jobmanager.port"),
        "{warned:?}"
    );
}

#[test]
fn memory_under_zookeeper_is_warned_of() {
    let warned = warnings(&zookeeper().with("high-availability.storageDir", "memory:///x"));
    assert_eq!(warned.len(), 1);
}

#[test]
fn the_orphan_age_is_never_less_than_ten_session_timeouts() {
    let age = |configuration: &Configuration| HighAvailabilityOptions::orphan_age(configuration);
    assert_eq!(age(&Configuration::new()).unwrap(), Duration::from_secs(600));
    let long = Configuration::new().with("high-availability.zookeeper.client.session-timeout", "2 min");
    assert_eq!(age(&long).unwrap(), Duration::from_secs(1200));
    assert_eq!(
        refused(&long.clone().with("high-availability.orphan-age", "15 min")),
        "high-availability.orphan-age"
    );
    let set = long.with("high-availability.orphan-age", "1 h");
    assert_eq!(age(&set).unwrap(), Duration::from_secs(3600));
}

#[test]
fn addresses_have_flinks_defaults() {
    let empty = Configuration::new();
    assert_eq!(empty.get(&ClusterOptions::JOB_MANAGER_PORT).unwrap(), 6123);
    assert_eq!(empty.get(&ClusterOptions::REST_PORT).unwrap(), 8081);
    assert_eq!(
        empty.get(&ClusterOptions::REST_BIND_ADDRESS).unwrap(),
        "127.0.0.1"
    );
    assert_eq!(empty.get(&ClusterOptions::MAX_RETAINED_CHECKPOINTS).unwrap(), 1);
}

#[test]
fn b46_the_default_cluster_id_is_warned_of_where_clusters_can_meet() {
    let filesystem = Configuration::new()
        .with("high-availability", "filesystem")
        .with("high-availability.storageDir", "/var/ha");
    let warned = warnings(&filesystem);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("high-availability.cluster-id"), "{warned:?}");
    assert!(warnings(&filesystem.with("high-availability.cluster-id", "default")).is_empty());
}
