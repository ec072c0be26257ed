use ha_core::Result;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalEvent};
use uuid::Uuid;

use crate::client::{NodeWatch, ZkCode, ZkResult, ZooKeeperClient};
use crate::codec::{ConnectionInfo, IdentityData};
use crate::paths::ClusterPaths;

/// Reads who leads a component.
pub(super) struct LeaderReader {
    path: String,
    identity: String,
}

impl LeaderReader {
    pub(super) fn new(paths: &ClusterPaths, component: &ComponentId) -> Self {
        Self {
            path: paths.connection_info(component),
            identity: paths.identity(),
        }
    }

    /// Makes the next readings at least as new as everything written before, and reads the history they belong to.
    pub(super) async fn catch_up(&self, client: &dyn ZooKeeperClient) -> ZkResult<Option<Uuid>> {
        let (synced, history) = futures::join!(client.sync(&self.path), self.history(client));
        synced?;
        history
    }

    /// Reads with a watch on whatever comes next: a get on a missing node arms nothing, so a missing node is
    /// watched by an exists.
    pub(super) async fn read_and_watch(
        &self,
        client: &dyn ZooKeeperClient,
        history: Option<Uuid>,
    ) -> ZkResult<(LeaderRetrievalEvent, NodeWatch)> {
        loop {
            match client.get_and_watch(&self.path).await {
                Ok((data, _, watch)) => return Ok((self.event(&data, history), watch)),
                Err(error) if error.code == ZkCode::NoNode => {}
                Err(error) => return Err(error),
            }
            if let (None, watch) = client.exists_and_watch(&self.path).await? {
                return Ok((self.event(b"", history), watch));
            }
        }
    }

    /// Reads without a watch, at least as new as everything written before.
    pub(super) async fn verify(&self, client: &dyn ZooKeeperClient) -> Result<LeaderObservation> {
        let history = self
            .catch_up(client)
            .await
            .map_err(|error| error.at(&self.identity))?;
        let leader = match client.get(&self.path).await {
            Ok((data, _)) => ConnectionInfo::decode(&self.path, &data)?,
            Err(error) if error.code == ZkCode::NoNode => None,
            Err(error) => return Err(error.at(&self.path)),
        };
        Ok(LeaderObservation { leader, history })
    }

    fn event(&self, data: &[u8], history: Option<Uuid>) -> LeaderRetrievalEvent {
        match ConnectionInfo::decode(&self.path, data) {
            Ok(leader) => LeaderRetrievalEvent::Observed(LeaderObservation { leader, history }),
            Err(error) => LeaderRetrievalEvent::Unreadable(error),
        }
    }

    /// The cluster's uuid, where it can be read.
    async fn history(&self, client: &dyn ZooKeeperClient) -> ZkResult<Option<Uuid>> {
        match client.get(&self.identity).await {
            Ok((data, _)) => Ok(IdentityData::decode(&self.identity, &data)
                .ok()
                .map(|identity| identity.cluster_uuid)),
            Err(error) if error.code == ZkCode::NoNode => Ok(None),
            Err(error) => Err(error),
        }
    }
}
