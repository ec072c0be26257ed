use ha_core::Result;

use super::LeaderLatch;
use super::leader_latch::Own;
use crate::client::{MultiError, Operation, Stat, ZkCode, ZkError, ZooKeeperClient};
use crate::paths::ClusterPaths;

/// How often leaving is tried on one client: each lost race or lost reply takes one.
const ATTEMPTS: usize = 10;

impl LeaderLatch {
    /// Gives the election up: one multi deletes this process's latch, as operation 0 at the version just read. If
    /// that one was granted a term, the multi deletes those of `infos` (paths of leader information) that this
    /// session owns too, so that the next leader is told at once (design §4.8); as long as it stands, nobody else
    /// can have put his in their place. A latch that is gone takes nothing with it.
    ///
    /// # Errors
    /// `Unavailable`: call again, with the client of the present session.
    pub async fn leave(&mut self, client: &dyn ZooKeeperClient, infos: &[String]) -> Result<()> {
        let Some(own) = self.own.filter(|own| own.session == client.session_id()) else {
            // It went, or goes, with its session.
            self.forget();
            return Ok(());
        };
        let mut last = ZkError::new(ZkCode::Other, "the latch could not be deleted");
        let mut first = true;
        for _ in 0..ATTEMPTS {
            let operations = match self.only_node(own).filter(|_| first) {
                Some(path) => self.at_once(client, own, path, infos).await?,
                None => self.after_looking(client, own, infos).await?,
            };
            first = false;
            let Some(latch) = operations.first().map(|operation| operation.path().to_owned()) else {
                self.forget();
                return Ok(());
            };
            last = match client.multi(operations).await {
                Ok(_) => {
                    self.forget();
                    tracing::info!(path = latch, "left the election");
                    return Ok(());
                }
                // Somebody changed or deleted one of them since: read again.
                Err(MultiError::Refused { error, .. })
                    if matches!(error.code, ZkCode::NoNode | ZkCode::BadVersion) =>
                {
                    error
                }
                Err(MultiError::Refused { error, .. }) => return Err(error.at(&latch).not_applied()),
                // The reply was lost: reading again tells.
                Err(MultiError::Failed(error)) if error.code == ZkCode::ConnectionLoss => error,
                Err(MultiError::Failed(error)) => return Err(error.at(&latch)),
            };
        }
        Err(last.at(&self.paths.latches()))
    }

    /// The node of this latch, when it is the only one that may stand: its name is known, and no reply was lost.
    fn only_node(&self, own: Own) -> Option<String> {
        let name = self.made.as_ref()?;
        let (uuid, _) = ClusterPaths::parse_latch_name(name)?;
        let only = uuid == own.uuid && self.asked.iter().eq([&own.uuid]);
        only.then(|| self.paths.latch(name))
    }

    /// What is to be deleted, by one round trip, a `sync` and a read of the only node and the infos: the next leader
    /// waits for this.
    async fn at_once(
        &self,
        client: &dyn ZooKeeperClient,
        own: Own,
        latch: String,
        infos: &[String],
    ) -> Result<Vec<Operation>> {
        let mut paths = vec![latch];
        if own.granted {
            paths.extend_from_slice(infos);
        }
        let parent = self.paths.latches();
        // Sent in this order, and handled in it.
        let (synced, standing) = futures::join!(client.sync(&parent), self.standing(client, &paths));
        synced.map_err(|error| error.at(&parent))?;
        let mut standing = standing?;
        // A latch that is gone takes nothing with it.
        if standing.first().map(|(path, _)| path) != paths.first() {
            standing.clear();
        }
        Ok(standing.iter().map(|(path, stat)| delete(path, stat)).collect())
    }

    /// The same after a `sync` and a listing: a reply was lost, or somebody changed one of them meanwhile.
    async fn after_looking(
        &self,
        client: &dyn ZooKeeperClient,
        own: Own,
        infos: &[String],
    ) -> Result<Vec<Operation>> {
        let mut mine = self.mine(client).await?;
        // The present one first; others are what lost replies left behind.
        mine.sort_by_key(|(_, uuid, _)| *uuid != own.uuid);
        let mut operations: Vec<_> = mine
            .iter()
            .map(|(name, _, stat)| delete(&self.paths.latch(name), stat))
            .collect();
        let stands = mine.first().is_some_and(|(_, uuid, _)| *uuid == own.uuid);
        if stands && own.granted && !infos.is_empty() {
            for (path, stat) in self.standing(client, infos).await? {
                operations.push(delete(&path, &stat));
            }
        }
        Ok(operations)
    }

    /// Those of `paths` that are there and belong to the session of `client`.
    async fn standing(&self, client: &dyn ZooKeeperClient, paths: &[String]) -> Result<Vec<(String, Stat)>> {
        let parent = self.paths.leader();
        let read = client.multi_get(paths).await.map_err(|error| error.at(&parent))?;
        Ok(paths
            .iter()
            .zip(read)
            .filter_map(|(path, read)| Some((path.clone(), read.ok()?.1)))
            .filter(|(_, stat)| stat.ephemeral_owner == client.session_id().0)
            .collect())
    }
}

fn delete(path: &str, stat: &Stat) -> Operation {
    Operation::Delete {
        path: path.to_owned(),
        version: Some(stat.version),
    }
}
