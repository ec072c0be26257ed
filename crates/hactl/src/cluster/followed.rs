use std::sync::Arc;

use ha_core::Result;
use ha_core::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, JobId};
use ha_core::jobs::{JobResultEntry, JobResultStore as _};
use ha_core::{Error, ErrorKind, Follower};
use ha_flink::{JOB_GRAPH_PREFIX, JobGraph, Pointer};
use ha_storage::HaStorage;
use ha_zookeeper::client::ClientSource;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::{SessionOptions, SessionStatus, ZooKeeperSession};

use super::flink::{Looked, look};
use super::layout_detection::detect;
use super::opening::{expect_cluster_node, nothing_to_read};
use super::places::{result_store, storage_dir};
use super::{Nodes, ReadingOptions};
use crate::layout::{Layout, LayoutChoice, PathMappings};

/// A cluster in ZooKeeper, open to be followed: over a session that is replaced when it is over. Writes nothing.
pub(crate) struct FollowedCluster {
    cluster_id: ClusterId,
    configuration: Configuration,
    environment: Environment,
    session: ZooKeeperSession,
    paths: ClusterPaths,
    layout: Layout,
    mappings: PathMappings,
    location: String,
}

impl FollowedCluster {
    /// Opens the cluster that the configuration names, in one attempt. The caller closes it.
    ///
    /// # Errors
    /// `Invalid` for a wrong configuration and for every mode but `zookeeper`; `Unavailable` when ZooKeeper cannot be
    /// reached; `NotFound` when there is no such cluster.
    pub(crate) async fn open(
        configuration: &Configuration,
        reading: ReadingOptions,
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
        let layout = match layout_of(&session, &paths, reading.layout).await {
            Ok(layout) => layout,
            Err(error) => {
                session.close().await;
                return Err(error);
            }
        };
        Ok(Self {
            cluster_id,
            configuration: configuration.clone(),
            environment: environment.clone(),
            session,
            paths,
            layout,
            mappings: reading.mappings,
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
    pub(crate) fn status(&self) -> Follower<SessionStatus> {
        self.session.status()
    }

    /// The cluster's paths.
    pub(crate) fn paths(&self) -> &ClusterPaths {
        &self.paths
    }

    /// Whose layout it is, as it was when it was opened.
    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// The name of a job, as the file says that its pointer names; `None` when it cannot be read.
    pub(crate) async fn job_name(&self, job_id: JobId, graph: Pointer) -> Option<String> {
        let mappings = self.mappings.clone();
        // A file system that does not answer must not keep the rest from going on.
        let look = move || match look(&graph, &mappings, JOB_GRAPH_PREFIX) {
            Looked::There(bytes) => JobGraph::decode_prefix(&bytes).ok(),
            Looked::Elsewhere | Looked::Wrong(_) => None,
        };
        let found = tokio::task::spawn_blocking(look).await.ok()??;
        found.name.filter(|_| found.job == job_id)
    }

    /// The recorded result of a job. The storage is opened for each, so that it may be away in between.
    ///
    /// # Errors
    /// What keeps the storage or the result from being read.
    pub(crate) async fn recorded_result(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        let directory = storage_dir(&self.configuration, &self.mappings)?;
        let storage = HaStorage::open_existing(directory, &self.cluster_id, &self.environment).await?;
        let is_flinks = matches!(self.layout, Layout::Flink(_));
        let store = result_store(
            &self.configuration,
            &self.cluster_id,
            is_flinks,
            &self.mappings,
            storage,
        );
        match store.await? {
            Some(results) => results.job_result_entry(job_id).await,
            None => Ok(None),
        }
    }

    /// Ends the session and waits for it.
    pub(crate) async fn close(&self) {
        self.session.close().await;
    }
}

async fn layout_of(session: &ZooKeeperSession, paths: &ClusterPaths, choice: LayoutChoice) -> Result<Layout> {
    let nodes = Nodes::new(session.client().await?);
    nodes.sync(paths.cluster()).await?;
    expect_cluster_node(&nodes, paths).await?;
    detect(&nodes, paths, choice).await
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
