use std::sync::Arc;
use std::time::Duration;

use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    Configuration, Environment, Error, ErrorKind, HighAvailabilityServices as _, LeaderContender,
    LeaderElectionService, Result, async_trait,
};
use ha_zookeeper::client::{ClientSource as _, ZooKeeperClient};
use ha_zookeeper::services::ZooKeeperHaServices;

use crate::arguments::Place;

/// The longest that leadership may take. Nobody else contends.
const PATIENCE: Duration = Duration::from_secs(60);
/// Below which all clusters of this program are.
const ROOT: &str = "/ha-bench";

/// A process of a cluster that nobody else uses, leading.
pub(crate) struct Leader {
    pub(crate) services: Arc<ZooKeeperHaServices>,
    pub(crate) environment: Environment,
    pub(crate) cluster: String,
    election: Arc<dyn LeaderElectionService>,
}

struct Contender;

#[async_trait]
impl LeaderContender for Contender {
    async fn grant_leadership(&self, _: LeaderSessionId) {}

    async fn revoke_leadership(&self) {}

    async fn handle_error(&self, _: Error) {}

    fn address(&self) -> String {
        "http://ha-bench".to_owned()
    }
}

impl Leader {
    /// Connects and leads: in the cluster that `place` names, or in a new one.
    pub(crate) async fn lead(place: &Place) -> Result<Self> {
        let environment = Environment::system();
        let cluster = match &place.cluster {
            Some(cluster) => cluster.clone(),
            None => format!("bench-{}", environment.ids.uuid()),
        };
        let configuration = Configuration::new()
            .with("high-availability", "zookeeper")
            .with("high-availability.cluster-id", cluster.clone())
            .with("high-availability.storageDir", place.dir.display().to_string())
            .with("high-availability.zookeeper.quorum", place.zk.clone())
            .with("high-availability.zookeeper.path.root", ROOT);
        let services = ZooKeeperHaServices::connect(&configuration, environment.clone()).await?;
        let election = services.leader_election(ComponentId::dispatcher());
        let mut leadership = election.subscribe();
        election.start(Arc::new(Contender)).await?;
        let granted = tokio::select! {
            granted = leadership.wait_for(Option::is_some) => granted.is_ok(),
            () = environment.clock.sleep(PATIENCE) => false,
        };
        if !granted {
            return Err(
                Error::new(ErrorKind::Unavailable, "leadership was not granted in time").at(place.zk.clone()),
            );
        }
        Ok(Self {
            services,
            environment,
            cluster,
            election,
        })
    }

    /// The client of the session.
    pub(crate) async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        self.services.session().client().await
    }

    /// Gives up leadership and keeps the data.
    pub(crate) async fn close(self) -> Result<()> {
        self.election.stop().await?;
        self.services.close().await
    }

    /// Removes the whole cluster.
    pub(crate) async fn remove(self) -> Result<()> {
        self.election.stop().await?;
        self.services.close_and_cleanup_all_data().await
    }
}
