use std::path::PathBuf;
use std::time::Duration;

use ha_services::Configuration;

/// The cluster that contenders belong to, and how they reach it.
#[derive(Clone, Debug)]
pub struct ClusterSettings {
    /// Where ZooKeeper is, as this process is told: a proxy, or one server of several, perhaps.
    pub quorum: String,
    /// The cluster id.
    pub cluster_id: String,
    /// The HA storage directory.
    pub storage: PathBuf,
    /// The session timeout.
    pub session_timeout: Duration,
    /// The servers' tick.
    pub tick: Duration,
}

impl ClusterSettings {
    /// The same cluster, reached at `quorum`.
    #[must_use]
    pub fn at(&self, quorum: impl Into<String>) -> Self {
        Self {
            quorum: quorum.into(),
            ..self.clone()
        }
    }

    /// The time within which exactly one leader stands after faults have ended (I9).
    pub fn recovery_bound(&self) -> Duration {
        self.session_timeout + self.tick * 2 + Duration::from_secs(1)
    }

    /// The options.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let millis = |duration: Duration| format!("{} ms", duration.as_millis());
        vec![
            ("high-availability", "zookeeper".to_owned()),
            ("high-availability.zookeeper.quorum", self.quorum.clone()),
            ("high-availability.zookeeper.path.root", "/ha-test".to_owned()),
            ("high-availability.cluster-id", self.cluster_id.clone()),
            ("high-availability.storageDir", self.storage.display().to_string()),
            (
                "high-availability.zookeeper.client.session-timeout",
                millis(self.session_timeout),
            ),
            ("high-availability.zookeeper.server-tick-time", millis(self.tick)),
            (
                "high-availability.zookeeper.client.retry-wait",
                "200 ms".to_owned(),
            ),
        ]
    }

    /// The options as a configuration.
    pub fn configuration(&self) -> Configuration {
        let options = self.options().into_iter();
        options.fold(Configuration::new(), |configuration, (key, value)| {
            configuration.with(key, value)
        })
    }

    /// The path of the cluster's node.
    pub fn cluster_node(&self) -> String {
        format!("/ha-test/{}", self.cluster_id)
    }
}
