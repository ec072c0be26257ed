use crate::configuration::{ConfigOption, OptionDefinition, OptionSupport};

const fn without_meaning(key: &'static str, reason: &'static str) -> ConfigOption<String> {
    ConfigOption::new(key, reason).support(OptionSupport::WithoutMeaning)
}

const FIXED_LAYOUT: &str = "the layout of the znodes is fixed";
const OLD_SERVICES: &str = "a generation of Flink's services that does not exist here";
const CURATOR: &str = "a setting of Curator, which is not used";
const KUBERNETES: &str = "a setting of the mode KUBERNETES, which is not built";

/// Keys of Flink that are recognised, so that a configuration of Flink's can be taken over, and that change
/// nothing.
pub(super) static WITHOUT_MEANING: &[&dyn OptionDefinition] = &[
    &without_meaning(
        "high-availability.jobmanager.port",
        "leaders publish their REST endpoint; there is no other port to find",
    )
    .deprecated(&["recovery.jobmanager.port"]),
    &without_meaning("high-availability.zookeeper.path.jobgraphs", FIXED_LAYOUT)
        .deprecated(&["recovery.zookeeper.path.jobgraphs"]),
    &without_meaning("high-availability.zookeeper.path.execution-plans", FIXED_LAYOUT),
    &without_meaning("high-availability.zookeeper.path.latch", FIXED_LAYOUT)
        .deprecated(&["recovery.zookeeper.path.latch"]),
    &without_meaning("high-availability.zookeeper.path.leader", FIXED_LAYOUT)
        .deprecated(&["recovery.zookeeper.path.leader"]),
    &without_meaning("high-availability.zookeeper.path.checkpoints", FIXED_LAYOUT)
        .deprecated(&["recovery.zookeeper.path.checkpoints"]),
    &without_meaning(
        "high-availability.zookeeper.path.checkpoint-counter",
        FIXED_LAYOUT,
    )
    .deprecated(&["recovery.zookeeper.path.checkpoint-counter"]),
    &without_meaning("high-availability.zookeeper.path.running-registry", FIXED_LAYOUT),
    &without_meaning("high-availability.zookeeper.path.mesos-workers", FIXED_LAYOUT)
        .deprecated(&["recovery.zookeeper.path.mesos-workers"]),
    &without_meaning("high-availability.zookeeper.client.ensemble-tracker", CURATOR),
    &without_meaning("high-availability.zookeeper.client.max-close-wait", CURATOR),
    &without_meaning(
        "high-availability.zookeeper.client.simulated-session-expiration-percent",
        "leadership ends with the lease, not with a guess of the client",
    ),
    &without_meaning("high-availability.use-old-ha-services", OLD_SERVICES),
    &without_meaning("high-availability.job.delay", OLD_SERVICES).deprecated(&["recovery.job.delay"]),
    &without_meaning(
        "high-availability.kubernetes.leader-election.lease-duration",
        KUBERNETES,
    ),
    &without_meaning(
        "high-availability.kubernetes.leader-election.renew-deadline",
        KUBERNETES,
    ),
    &without_meaning(
        "high-availability.kubernetes.leader-election.retry-period",
        KUBERNETES,
    ),
    &without_meaning(
        "application-result-store.storage-path",
        "there are no results of applications, only of jobs",
    ),
    &without_meaning(
        "application-result-store.delete-on-commit",
        "there are no results of applications, only of jobs",
    ),
    &without_meaning("zookeeper.sasl.disable", "SASL is not built, so it is never used"),
    &without_meaning(
        "security.kerberos.login.use-ticket-cache",
        "Kerberos is not built, so it is never used",
    ),
    &without_meaning("rest.bind-port", "the REST endpoint listens on rest.port"),
];
