use std::time::Duration;

use super::checks;
use crate::configuration::ConfigOption;

/// The options of the cluster process, and the fixed addresses of the mode `NONE`.
pub struct ClusterOptions;

impl ClusterOptions {
    /// The host of the job manager.
    pub const JOB_MANAGER_ADDRESS: ConfigOption<String> = ConfigOption::new(
        "jobmanager.rpc.address",
        "the host of the one job manager in the mode NONE; in other modes the leader is found by retrieval",
    );

    /// The port of the job manager.
    pub const JOB_MANAGER_PORT: ConfigOption<u16> = ConfigOption::new(
        "jobmanager.rpc.port",
        "the port of the one job manager in the mode NONE",
    )
    .default_text("6123");

    /// The host under which the REST endpoint is reached.
    pub const REST_ADDRESS: ConfigOption<String> = ConfigOption::new(
        "rest.address",
        "the host under which clients reach the REST endpoint, and which `submit` uses without ZooKeeper; standalone services take the host of jobmanager.rpc.address where it is not set",
    )
    .derived_default("rest.bind-address");

    /// The port of the REST endpoint.
    pub const REST_PORT: ConfigOption<u16> =
        ConfigOption::new("rest.port", "the port of the REST endpoint; 0 takes a free one")
            .default_text("8081");

    /// The address on which the REST endpoint listens.
    pub const REST_BIND_ADDRESS: ConfigOption<String> = ConfigOption::new(
        "rest.bind-address",
        "the address on which the REST endpoint listens; it has no authentication, so anything but loopback gives a warning",
    )
    .default_text("127.0.0.1");

    /// How many completed checkpoints of a job are kept.
    pub const MAX_RETAINED_CHECKPOINTS: ConfigOption<usize> = ConfigOption::new(
        "state.checkpoints.num-retained",
        "how many completed checkpoints of a job are kept",
    )
    .default_text("1")
    .checked_by(checks::at_least_one);

    /// How many jobs run at once.
    pub const JOB_SLOTS: ConfigOption<usize> = ConfigOption::new(
        "cluster.job-slots",
        "how many jobs the leading process runs at once; others wait",
    )
    .default_text("16")
    .checked_by(checks::at_least_one);

    /// How long the checkpoint on the way out may take.
    pub const SHUTDOWN_CHECKPOINT_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
        "cluster.shutdown-checkpoint-timeout",
        "how long a job's checkpoint may take when its process is asked to stop; 0 takes none",
    )
    .default_text("5 s");
}
