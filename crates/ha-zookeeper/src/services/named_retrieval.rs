use std::sync::Arc;

use async_trait::async_trait;
use ha_core::Result;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::election::LeaderInformation;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{DefaultLeaderRetrievalService, LeaderRetrievalListener, LeaderRetrievalService};
use tokio::sync::watch;

use super::settings::paths_of;
use crate::paths::ClusterPaths;
use crate::retrieval::{FlinkGeneration, LeaderWatches, ZooKeeperLeaderRetrievalDriverFactory};
use crate::session::{SessionOptions, ZooKeeperSession};

/// Follows the leader of `component` on a session of its own, which `stop` closes. It reads only, and needs no
/// storage.
///
/// # Errors
/// `Invalid` for the configuration; `Unavailable` when ZooKeeper could not be reached.
pub async fn named_leader_retrieval(
    configuration: &Configuration,
    component: ComponentId,
    environment: Environment,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    retrieval(configuration, component, environment, LeaderWatches::new).await
}

/// Follows the leader of a component of an Apache Flink cluster, as [`named_leader_retrieval`] does for one of this
/// library: `dispatcher`, `resource_manager`, `rest_server`, or a job manager.
///
/// The configuration names the cluster with Flink's own keys: the quorum, `high-availability.zookeeper.path.root`, and
/// `high-availability.cluster-id`. The epoch of a leader is the transaction that wrote it; see
/// [`LeaderWatches::of_flink`].
///
/// # Errors
/// `Invalid` for the configuration; `Unavailable` when ZooKeeper could not be reached. Leader information that cannot be
/// read is told to the listener, and followed further.
pub async fn flink_leader_retrieval(
    configuration: &Configuration,
    component: ComponentId,
    generation: FlinkGeneration,
    environment: Environment,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    let watches =
        |session, paths, environment| LeaderWatches::of_flink(session, paths, generation, environment);
    retrieval(configuration, component, environment, watches).await
}

async fn retrieval(
    configuration: &Configuration,
    component: ComponentId,
    environment: Environment,
    watches: impl FnOnce(ZooKeeperSession, ClusterPaths, Environment) -> LeaderWatches,
) -> Result<Arc<dyn LeaderRetrievalService>> {
    let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
    let paths = paths_of(configuration, &cluster_id)?;
    let options = SessionOptions::from_configuration(configuration)?;
    let session = ZooKeeperSession::connect(options, environment.clone(), HealthMonitor::default()).await?;
    let watches = watches(session.clone(), paths, environment.clone());
    let factory = ZooKeeperLeaderRetrievalDriverFactory::new(watches, component);
    let retrieval =
        DefaultLeaderRetrievalService::new(Arc::new(factory), session.tolerates_suspension(), environment);
    Ok(Arc::new(NamedLeaderRetrieval { retrieval, session }))
}

/// A retrieval that owns its session.
struct NamedLeaderRetrieval {
    retrieval: Arc<dyn LeaderRetrievalService>,
    session: ZooKeeperSession,
}

#[async_trait]
impl LeaderRetrievalService for NamedLeaderRetrieval {
    async fn start(&self, listener: Arc<dyn LeaderRetrievalListener>) -> Result<()> {
        self.retrieval.start(listener).await
    }

    async fn stop(&self) -> Result<()> {
        let stopped = self.retrieval.stop().await;
        self.session.close().await;
        stopped
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.retrieval.subscribe()
    }
}
