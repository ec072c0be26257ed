use ha_core::election::LeaderInformation;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalEvent};
use ha_core::{Error, Result};
use uuid::Uuid;

use super::leader_format::LeaderFormat;
use crate::client::{NodeWatch, ZkCode, ZkError, ZkResult, ZooKeeperClient};
use crate::codec::IdentityData;
use crate::paths::ClusterPaths;

/// Reads who leads a component.
pub(super) struct LeaderReader {
    format: LeaderFormat,
    path: String,
    identity: Option<String>,
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
    pub(super) fn new(format: LeaderFormat, paths: &ClusterPaths, component: &ComponentId) -> Self {
        Self {
            format,
            path: format.path(paths, component),
            identity: format.identity(paths),
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
                Ok((data, stat, watch)) => {
                    let leader = self.format.decode(&self.path, &data, &stat);
                    return Ok(Self::reading(leader, history, watch));
                }
                Err(error) if error.code == ZkCode::NoNode => {}
                Err(error) => return Err(error),
            }
            if let (None, watch) = client.exists_and_watch(&self.path).await? {
                return Ok(Self::reading(Ok(None), history, watch));
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
        let identity = self.identity.as_ref().unwrap_or(&self.path);
        let history = history.map_err(|error| error.at(identity))?.ok().flatten();
        let leader = match found {
            Ok((data, stat)) => self.format.decode(&self.path, &data, &stat)?,
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

    fn reading(
        leader: Result<Option<LeaderInformation>>,
        history: Result<Option<Uuid>>,
        watch: NodeWatch,
    ) -> Reading {
        let (history, history_unknown) = match history {
            Ok(history) => (history, None),
            Err(error) => (None, Some(error)),
        };
        let event = match leader {
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
        let Some(path) = &self.identity else {
            return Ok(Ok(None));
        };
        let read = match client.get(path).await {
            Ok((data, _)) => IdentityData::decode(path, &data).map(|identity| Some(identity.cluster_uuid)),
            Err(error) if error.code == ZkCode::NoNode => Ok(None),
            Err(error) if is_refusal(&error) => Err(error.at(path)),
            Err(error) => return Err(error),
        };
        Ok(read.map_err(|error| {
            error.advise("let this process read the cluster's identity; until then a tree that was restored or made anew is known by its epochs alone")
        }))
    }
}
