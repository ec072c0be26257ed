use std::sync::Arc;

use async_trait::async_trait;
use ha_core::Result;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::election::{
    DefaultLeaderElectionService, LeaderContender, LeaderElectionService, LeaderInformation,
};
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_storage::HaStorage;
use tokio::sync::watch;

use super::describe_this_process;
use super::settings::{paths_of, storage_dir_of};
use crate::election::ZooKeeperLeaderElectionDriverFactory;
use crate::fence::LeadershipFence;
use crate::identity::IdentityGuard;
use crate::session::{SessionOptions, ZooKeeperSession};

/// The election of `component` beside the cluster's own, with a session and latches (`leader/latch-<name>`) of its
/// own. It does not fence the stores of this process. `stop` gives all of it up.
///
/// # Errors
/// `Invalid` for the configuration; `Unavailable` when ZooKeeper or the storage could not be reached.
pub async fn named_leader_election(
    configuration: &Configuration,
    component: ComponentId,
    environment: Environment,
) -> Result<Arc<dyn LeaderElectionService>> {
    let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
    let paths = paths_of(configuration, &cluster_id)?;
    let storage_dir = storage_dir_of(configuration)?;
    let options = SessionOptions::from_configuration(configuration)?;
    let revoke_timeout = configuration.get(&HighAvailabilityOptions::HA_REVOKE_TIMEOUT)?;
    let health = HealthMonitor::default();
    let storage = HaStorage::open(storage_dir, &cluster_id, &environment).await?;
    let session = ZooKeeperSession::connect(options, environment.clone(), health.clone()).await?;
    let identity = IdentityGuard::new(
        Arc::new(session.clone()),
        paths.clone(),
        storage,
        health,
        &environment,
    );
    let factory = ZooKeeperLeaderElectionDriverFactory::new(
        session.clone(),
        paths.for_named_election(&component),
        LeadershipFence::new(),
        describe_this_process(None),
        Arc::new(identity),
        environment.clone(),
    );
    let service = DefaultLeaderElectionService::new(Arc::new(factory), environment, revoke_timeout);
    Ok(Arc::new(NamedLeaderElection {
        election: service.election(component),
        service,
        session,
    }))
}

/// One component's election that owns its session.
struct NamedLeaderElection {
    election: Arc<dyn LeaderElectionService>,
    service: Arc<DefaultLeaderElectionService>,
    session: ZooKeeperSession,
}

#[async_trait]
impl LeaderElectionService for NamedLeaderElection {
    async fn start(&self, contender: Arc<dyn LeaderContender>) -> Result<()> {
        self.election.start(contender).await
    }

    async fn stop(&self) -> Result<()> {
        let stopped = self.election.stop().await;
        let closed = self.service.close().await;
        self.session.close().await;
        stopped.and(closed)
    }

    async fn confirm_leadership(&self, session: LeaderSessionId, address: Option<&str>) -> Result<bool> {
        self.election.confirm_leadership(session, address).await
    }

    async fn has_leadership(&self, session: LeaderSessionId) -> bool {
        self.election.has_leadership(session).await
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.election.subscribe()
    }
}
