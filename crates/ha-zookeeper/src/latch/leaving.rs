use ha_core::Result;

use super::LeaderLatch;
use crate::client::{MultiError, Operation, Stat, ZkCode, ZkError, ZooKeeperClient};

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
        for _ in 0..ATTEMPTS {
            let mut mine = self.mine(client).await?;
            // The present one first; others are what lost replies left behind.
            mine.sort_by_key(|(_, uuid, _)| *uuid != own.uuid);
            let mut operations: Vec<_> = mine
                .iter()
                .map(|(name, _, stat)| delete(&self.paths.latch(name), stat))
                .collect();
            let stands = mine.first().is_some_and(|(_, uuid, _)| *uuid == own.uuid);
            if stands && own.granted {
                for (path, stat) in self.own_infos(client, infos).await? {
                    operations.push(delete(&path, &stat));
                }
            }
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

    /// Those of `infos` that are there and belong to the session of `client`.
    async fn own_infos(&self, client: &dyn ZooKeeperClient, infos: &[String]) -> Result<Vec<(String, Stat)>> {
        if infos.is_empty() {
            return Ok(Vec::new());
        }
        let parent = self.paths.leader();
        let read = client.multi_get(infos).await.map_err(|error| error.at(&parent))?;
        Ok(infos
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
