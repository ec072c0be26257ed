use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalEvent};
use ha_core::{Error, Result};
use uuid::Uuid;

use crate::client::{NodeWatch, ZkCode, ZkError, ZkResult, ZooKeeperClient};
use crate::codec::{ConnectionInfo, IdentityData};
use crate::paths::ClusterPaths;

/// Reads who leads a component.
pub(super) struct LeaderReader {
    path: String,
    identity: String,
}

/// What was read, and a watch on whatever comes next.
pub(super) struct Reading {
    pub(super) event: LeaderRetrievalEvent,
    pub(super) watch: NodeWatch,
    /// Why it is not known in which history.
    pub(super) history_unknown: Option<Error>,
}

/// Whether the server does not let this process read. What may pass by itself is none.
pub(super) fn is_refusal(error: &ZkError) -> bool {
    matches!(
        error.code,
        ZkCode::NoAuth | ZkCode::InvalidAcl | ZkCode::BadArguments | ZkCode::Unimplemented
    )
}

impl LeaderReader {
    pub(super) fn new(paths: &ClusterPaths, component: &ComponentId) -> Self {
        Self {
            path: paths.connection_info(component),
            identity: paths.identity(),
        }
    }

    /// Makes the next readings at least as new as everything written before.
    pub(super) async fn catch_up(&self, client: &dyn ZooKeeperClient) -> ZkResult<()> {
        client.sync(&self.path).await
    }

    /// Reads with a watch on whatever comes next, and in which history: the tree may have been made anew since the
    /// last reading. A get on a missing node arms nothing, so a missing node is watched by an exists.
    pub(super) async fn read_and_watch(&self, client: &dyn ZooKeeperClient) -> ZkResult<Reading> {
        loop {
            let (history, found) = futures::join!(self.history(client), client.get_and_watch(&self.path));
            let history = history?;
            match found {
                Ok((data, _, watch)) => return Ok(self.reading(&data, history, watch)),
                Err(error) if error.code == ZkCode::NoNode => {}
                Err(error) => return Err(error),
            }
            if let (None, watch) = client.exists_and_watch(&self.path).await? {
                return Ok(self.reading(b"", history, watch));
            }
        }
    }

    /// Reads without a watch, at least as new as everything written before.
    pub(super) async fn verify(&self, client: &dyn ZooKeeperClient) -> Result<LeaderObservation> {
        let (synced, history, found) = futures::join!(
            self.catch_up(client),
            self.history(client),
            client.get(&self.path)
        );
        synced.map_err(|error| error.at(&self.path))?;
        let history = history.map_err(|error| error.at(&self.identity))?.ok().flatten();
        let leader = match found {
            Ok((data, _)) => ConnectionInfo::decode(&self.path, &data)?,
            Err(error) if error.code == ZkCode::NoNode => None,
            Err(error) => return Err(error.at(&self.path)),
        };
        Ok(LeaderObservation { leader, history })
    }

    /// The server refuses to let this process read.
    pub(super) fn refused(&self, error: ZkError) -> Error {
        error
            .at(&self.path)
            .advise("let this process read the leader information; it is read again until it can be")
    }

    fn reading(&self, data: &[u8], history: Result<Option<Uuid>>, watch: NodeWatch) -> Reading {
        let (history, history_unknown) = match history {
            Ok(history) => (history, None),
            Err(error) => (None, Some(error)),
        };
        let event = match ConnectionInfo::decode(&self.path, data) {
            Ok(leader) => LeaderRetrievalEvent::Observed(LeaderObservation { leader, history }),
            Err(error) => LeaderRetrievalEvent::Unreadable(error),
        };
        Reading {
            event,
            watch,
            history_unknown,
        }
    }

    /// The cluster's uuid, where there is one; the inner error says why it cannot be known. Who leads can be told
    /// without it.
    async fn history(&self, client: &dyn ZooKeeperClient) -> ZkResult<Result<Option<Uuid>>> {
        let read = match client.get(&self.identity).await {
            Ok((data, _)) => {
                IdentityData::decode(&self.identity, &data).map(|identity| Some(identity.cluster_uuid))
            }
            Err(error) if error.code == ZkCode::NoNode => Ok(None),
            Err(error) if is_refusal(&error) => Err(error.at(&self.identity)),
            Err(error) => return Err(error),
        };
        Ok(read.map_err(|error| {
            error.advise("let this process read the cluster's identity; until then a tree that was restored or made anew is known by its epochs alone")
        }))
    }
}
