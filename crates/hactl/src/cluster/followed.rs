use std::sync::Arc;

use ha_core::Result;
use ha_core::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, JobId};
use ha_core::jobs::{JobResultEntry, JobResultStore as _};
use ha_core::{Error, ErrorKind};
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings};
use ha_zookeeper::client::ClientSource;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::{SessionOptions, SessionStatus, ZooKeeperSession};
use tokio::sync::watch;

use super::Nodes;
use super::cluster::storage_dir;
use super::layout_detection::detect;
use super::opening::{expect_cluster_node, nothing_to_read};
use crate::layout::{Layout, LayoutChoice};

/// A cluster in ZooKeeper, open to be followed: over a session that is replaced when it is over. Writes nothing.
pub(crate) struct FollowedCluster {
    cluster_id: ClusterId,
    configuration: Configuration,
    environment: Environment,
    session: ZooKeeperSession,
    paths: ClusterPaths,
    location: String,
}

impl FollowedCluster {
    /// Opens the cluster that the configuration names, in one attempt. The caller closes it.
    ///
    /// # Errors
    /// `Invalid` for a wrong configuration, for every mode but `zookeeper`, and for a cluster of Apache Flink; `Unavailable` when ZooKeeper cannot be
    /// reached; `NotFound` when there is no such cluster.
    pub(crate) async fn open(
        configuration: &Configuration,
        layout: LayoutChoice,
        environment: &Environment,
    ) -> Result<Self> {
        for warning in HighAvailabilityOptions::validate(configuration)? {
            tracing::warn!("{warning}");
        }
        let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
        match HighAvailabilityOptions::mode(configuration)? {
            HighAvailabilityMode::ZooKeeper => {}
            HighAvailabilityMode::Factory(name) if name.eq_ignore_ascii_case("filesystem") => {
                return Err(not_told());
            }
            other => return Err(nothing_to_read(&other)),
        }
        let quorum = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM)?;
        let root = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_ROOT)?;
        let paths = ClusterPaths::new(&quorum.chroot, &root, &cluster_id)?;
        let options = SessionOptions {
            // As the other commands: whoever starts it sees at once that the address is wrong.
            max_retry_attempts: 0,
            ..SessionOptions::from_configuration(configuration)?
        };
        let location = format!("{}{}", options.servers, paths.cluster());
        let session =
            ZooKeeperSession::connect(options, environment.clone(), HealthMonitor::default()).await?;
        if let Err(error) = expect_cluster(&session, &paths, layout).await {
            session.close().await;
            return Err(error);
        }
        Ok(Self {
            cluster_id,
            configuration: configuration.clone(),
            environment: environment.clone(),
            session,
            paths,
            location,
        })
    }

    /// The servers and the cluster node.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// Gives the client of the present session.
    pub(crate) fn source(&self) -> Arc<dyn ClientSource> {
        Arc::new(self.session.clone())
    }

    /// Follows the state of the session.
    pub(crate) fn status(&self) -> watch::Receiver<SessionStatus> {
        self.session.status()
    }

    /// The cluster's paths.
    pub(crate) fn paths(&self) -> &ClusterPaths {
        &self.paths
    }

    /// The recorded result of a job. The storage is opened for each, so that it may be away in between.
    ///
    /// # Errors
    /// What keeps the storage or the result from being read.
    pub(crate) async fn recorded_result(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        let directory = storage_dir(&self.configuration)?;
        let storage = HaStorage::open_existing(directory, &self.cluster_id, &self.environment).await?;
        let settings = JobResultStoreSettings::from_configuration(&self.configuration)?;
        let health = HealthMonitor::default();
        let results = FileSystemJobResultStore::open_existing(storage, settings, health).await?;
        results.job_result_entry(job_id).await
    }

    /// Ends the session and waits for it.
    pub(crate) async fn close(&self) {
        self.session.close().await;
    }
}

async fn expect_cluster(
    session: &ZooKeeperSession,
    paths: &ClusterPaths,
    layout: LayoutChoice,
) -> Result<()> {
    let nodes = Nodes::new(session.client().await?);
    nodes.sync(paths.cluster()).await?;
    expect_cluster_node(&nodes, paths).await?;
    match detect(&nodes, paths, layout).await? {
        Layout::Native => Ok(()),
        Layout::Flink(_) => Err(Error::new(
            ErrorKind::Invalid,
            "it is a cluster of Apache Flink, which `hactl watch` cannot follow yet",
        )
        .at(paths.cluster())
        .advise("look again with `hactl leaders` and `hactl jobs`")
        .not_applied()),
    }
}

fn not_told() -> Error {
    Error::new(
        ErrorKind::Invalid,
        "in the mode filesystem nobody tells of changes, so there is nothing to watch",
    )
    .at(HighAvailabilityOptions::HA_MODE.key())
    .advise("look again with `hactl jobs`; `hactl watch` is for the mode zookeeper")
    .not_applied()
}
