use std::time::Duration;

use super::checks;
use crate::configuration::{
    ConfigOption, Configuration, HighAvailabilityMode, ZNodePath, ZooKeeperConnectString, storage_uri,
};
use crate::error::Result;
use crate::ids::ClusterId;

/// The options of the HA services: the seeds' keys and defaults, Flink's later and older names as aliases, and
/// our own.
pub struct HighAvailabilityOptions;

impl HighAvailabilityOptions {
    /// Which services are made.
    pub const HA_MODE: ConfigOption<HighAvailabilityMode> = ConfigOption::new(
        "high-availability",
        "the mode: NONE, zookeeper, filesystem (one process, files that outlive it), or the name of a registered factory",
    )
    .default_text("NONE")
    .aliases(&["high-availability.type"])
    .deprecated(&["recovery.mode"]);

    /// The cluster within the root and within the storage directory.
    pub const HA_CLUSTER_ID: ConfigOption<ClusterId> = ConfigOption::new(
        "high-availability.cluster-id",
        "the name of the cluster: its znode below the root and its folder in the storage directory; two clusters that share both must not share it",
    )
    .default_text("default")
    .deprecated(&[
        "high-availability.zookeeper.path.namespace",
        "recovery.zookeeper.path.namespace",
    ]);

    /// The same option as [`HighAvailabilityOptions::HA_CLUSTER_ID`], under the name of the older seed.
    pub const HA_ZOOKEEPER_NAMESPACE: ConfigOption<ClusterId> = Self::HA_CLUSTER_ID;

    /// Where state is stored.
    pub const HA_STORAGE_PATH: ConfigOption<String> = ConfigOption::new(
        "high-availability.storageDir",
        "the directory for the state to which znodes point, a path or a URI: file (for several hosts on a file system that all of them mount), s3, gs, az, hdfs (where the program was built with the feature), memory for tests; required in the modes zookeeper and filesystem",
    )
    .deprecated(&[
        "high-availability.zookeeper.storageDir",
        "recovery.zookeeper.storageDir",
    ])
    .checked_by(storage_uri::check);

    /// Where ZooKeeper is.
    pub const HA_ZOOKEEPER_QUORUM: ConfigOption<ZooKeeperConnectString> = ConfigOption::new(
        "high-availability.zookeeper.quorum",
        "the servers of the ensemble, `host[:port][,host[:port]...][/chroot]`; required in the mode zookeeper",
    )
    .deprecated(&["recovery.zookeeper.quorum"]);

    /// The znode below which all clusters are.
    pub const HA_ZOOKEEPER_ROOT: ConfigOption<ZNodePath> = ConfigOption::new(
        "high-availability.zookeeper.path.root",
        "the znode below which the clusters are",
    )
    .default_text("/flink")
    .deprecated(&["recovery.zookeeper.path.root"]);

    /// The session timeout that is asked for.
    pub const HA_ZOOKEEPER_SESSION_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.zookeeper.client.session-timeout",
        "the session timeout asked for; the server may give another within its limits; at least 6 ticks are recommended",
    )
    .default_text("60 s")
    .deprecated(&["recovery.zookeeper.client.session-timeout"])
    .checked_by(checks::zookeeper_timeout);

    /// How long one attempt to connect may take.
    pub const HA_ZOOKEEPER_CONNECTION_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.zookeeper.client.connection-timeout",
        "how long one attempt to connect may take",
    )
    .default_text("15 s")
    .deprecated(&["recovery.zookeeper.client.connection-timeout"])
    .checked_by(checks::zookeeper_timeout);

    /// The wait before the second attempt to connect at start.
    pub const HA_ZOOKEEPER_RETRY_WAIT: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.zookeeper.client.retry-wait",
        "the wait between the attempts to connect at start; it doubles from attempt to attempt up to 30 s",
    )
    .default_text("5 s")
    .deprecated(&["recovery.zookeeper.client.retry-wait"])
    .checked_by(checks::positive);

    /// How often connecting is tried again at start.
    pub const HA_ZOOKEEPER_MAX_RETRY_ATTEMPTS: ConfigOption<u32> = ConfigOption::new(
        "high-availability.zookeeper.client.max-retry-attempts",
        "how many further attempts to connect are made at start; after a start, reconnecting never gives up",
    )
    .default_text("3")
    .deprecated(&["recovery.zookeeper.client.max-retry-attempts"]);

    /// Whether leadership outlives a suspension that heals inside the lease.
    pub const HA_ZOOKEEPER_TOLERATE_SUSPENDED_CONNECTIONS: ConfigOption<bool> = ConfigOption::new(
        "high-availability.zookeeper.client.tolerate-suspended-connections",
        "whether leadership goes on through a lost connection that comes back before the lease ends (Flink's default is false)",
    )
    .default_text("true");

    /// The server's tick, which the client cannot ask for.
    pub const HA_ZOOKEEPER_SERVER_TICK_TIME: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.zookeeper.server-tick-time",
        "the tickTime of the ZooKeeper servers; the lease is computed with it",
    )
    .derived_default("min(2 s, half of the negotiated session timeout)")
    .checked_by(checks::zookeeper_timeout);

    /// How long the callbacks of a revoked contender may take.
    pub const HA_REVOKE_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.revoke-timeout",
        "how long the callbacks of a revoked contender may take before leadership is given up all the same and the fatal handler is told",
    )
    .default_text("30 s")
    .checked_by(checks::positive);

    /// How often the file-backed job graph store looks for other processes' changes.
    pub const HA_JOB_GRAPH_STORE_POLL_INTERVAL: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.job-graph-store.poll-interval",
        "how often the file-backed job graph store looks for changes by others",
    )
    .default_text("1 s")
    .checked_by(checks::positive);

    /// The age from which a file that no pointer names is an orphan. Read it with
    /// [`HighAvailabilityOptions::orphan_age`].
    pub const HA_ORPHAN_AGE: ConfigOption<Duration> = ConfigOption::new(
        "high-availability.orphan-age",
        "the age from which a state file that no pointer names is an orphan; at least 10 min and 10 session timeouts",
    )
    .derived_default("max(10 min, 10 session timeouts)")
    .checked_by(checks::orphan_age);

    /// The mode.
    ///
    /// # Errors
    /// As [`Configuration::get`].
    pub fn mode(configuration: &Configuration) -> Result<HighAvailabilityMode> {
        HighAvailabilityMode::from_config(configuration)
    }

    /// The cluster id.
    ///
    /// # Errors
    /// As [`Configuration::get`].
    pub fn cluster_id(configuration: &Configuration) -> Result<ClusterId> {
        configuration.get(&Self::HA_CLUSTER_ID)
    }
}
