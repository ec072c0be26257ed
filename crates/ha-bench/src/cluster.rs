use std::sync::Arc;

use ha_services::{Configuration, Environment, Result};
use ha_zookeeper::services::ZooKeeperHaServices;

use crate::arguments::Place;

/// Below which all clusters of this program are.
const ROOT: &str = "/ha-bench";

/// A cluster that nobody else uses.
pub(crate) struct Cluster {
    pub(crate) id: String,
    pub(crate) configuration: Configuration,
    pub(crate) environment: Environment,
}

impl Cluster {
    /// The cluster that `place` names, or a new one.
    pub(crate) fn of(place: &Place) -> Self {
        let environment = Environment::system();
        let id = match &place.cluster {
            Some(cluster) => cluster.clone(),
            None => format!("bench-{}", environment.ids.uuid()),
        };
        let configuration = Configuration::new()
            .with("high-availability", "zookeeper")
            .with("high-availability.cluster-id", id.clone())
            .with("high-availability.storageDir", place.dir.display().to_string())
            .with("high-availability.zookeeper.quorum", place.zk.clone())
            .with("high-availability.zookeeper.path.root", ROOT);
        Self {
            id,
            configuration,
            environment,
        }
    }

    /// The services of a further process, on a session of their own.
    pub(crate) async fn connect(&self) -> Result<Arc<ZooKeeperHaServices>> {
        ZooKeeperHaServices::connect(&self.configuration, self.environment.clone()).await
    }
}
