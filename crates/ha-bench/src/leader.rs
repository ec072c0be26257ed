use std::sync::Arc;

use ha_services::ids::ComponentId;
use ha_services::{Environment, HighAvailabilityServices as _, Result};
use ha_zookeeper::client::{ClientSource as _, ZooKeeperClient};
use ha_zookeeper::services::ZooKeeperHaServices;

use crate::arguments::Place;
use crate::candidate::Candidate;
use crate::cluster::Cluster;

/// A process of a cluster that nobody else uses, leading.
pub(crate) struct Leader {
    pub(crate) services: Arc<ZooKeeperHaServices>,
    pub(crate) environment: Environment,
    pub(crate) cluster: String,
    candidate: Candidate,
}

impl Leader {
    /// Connects and leads: in the cluster that `place` names, or in a new one.
    pub(crate) async fn lead(place: &Place) -> Result<Self> {
        Self::lead_in(Cluster::of(place)).await
    }

    /// Connects and leads.
    pub(crate) async fn lead_in(cluster: Cluster) -> Result<Self> {
        let services = cluster.connect().await?;
        let mut candidate = Candidate::stand(
            &services,
            &cluster.environment,
            ComponentId::dispatcher(),
            "http://ha-bench".to_owned(),
        )
        .await?;
        candidate.lead().await?;
        Ok(Self {
            services,
            environment: cluster.environment,
            cluster: cluster.id,
            candidate,
        })
    }

    /// The client of the session.
    pub(crate) async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        self.services.session().client().await
    }

    /// Gives up leadership and keeps the data.
    pub(crate) async fn close(self) -> Result<()> {
        self.candidate.leave().await?;
        self.services.close().await
    }

    /// Removes the whole cluster.
    pub(crate) async fn remove(self) -> Result<()> {
        self.candidate.leave().await?;
        self.services.close_and_cleanup_all_data().await
    }
}
