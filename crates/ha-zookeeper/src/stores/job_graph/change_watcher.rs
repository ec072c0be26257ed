use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::ids::JobId;
use ha_core::jobs::JobGraphListener;
use ha_core::{ErrorKind, Result, guarded};
use ha_storage::StateKind;
use tokio::task::Id;
use tokio_util::sync::CancellationToken;

use super::change_log::{Again, Change, ChangeLog, Seen, Snapshot};
use crate::client::{NodeWatch, ZkCode, ZooKeeperClient};
use crate::codec::Pointer;
use crate::stores::{StoreContext, pointers};

/// The waits between attempts while ZooKeeper does not answer.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long changes are gathered while this process leads.
const GATHER: Duration = Duration::from_secs(1);

/// Watches `jobgraphs/` and tells a listener of other processes' changes.
pub(super) struct ChangeWatcher {
    pub context: StoreContext,
    pub log: Arc<ChangeLog>,
    pub listener: Arc<dyn JobGraphListener>,
    pub cancelled: CancellationToken,
    /// Is told the id of the task that makes the callbacks.
    pub task: Arc<OnceLock<Id>>,
}

impl ChangeWatcher {
    /// Runs until it is cancelled or the services are closed. A callback is never cut off.
    pub(super) async fn run(mut self) {
        if let Some(id) = tokio::task::try_id() {
            // It runs once.
            let _ = self.task.set(id);
        }
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            // Whatever changes from here on makes another round.
            self.context.status.latest();
            let round = tokio::select! {
                biased;
                () = self.cancelled.cancelled() => return,
                round = self.read() => round,
            };
            match round {
                Ok((changes, again, watch)) => {
                    backoff.reset();
                    for change in changes {
                        if self.cancelled.is_cancelled() {
                            return;
                        }
                        self.tell(change).await;
                    }
                    match again {
                        Again::Now => self.gather().await,
                        Again::No | Again::Settled => self.wait(watch, again).await,
                    }
                }
                Err(error) if error.kind() == ErrorKind::Closed => return,
                Err(error) => {
                    tracing::warn!(%error, "job graphs are not watched just now");
                    let pause = self.context.environment.clock.sleep(backoff.next_delay());
                    tokio::select! {
                        () = self.cancelled.cancelled() => return,
                        () = pause => {}
                    }
                }
            }
        }
    }

    async fn read(&self) -> Result<(Vec<Change>, Again, NodeWatch)> {
        let client = self.context.writer.client().await?;
        let mark = self.log.mark();
        let (snapshot, watch) = watched_snapshot(&self.context, &client).await?;
        let (changes, again) = self.log.compare(&snapshot, mark);
        Ok((changes, again, watch))
    }

    async fn tell(&self, change: Change) {
        let told = match change {
            Change::Added(job_id) => {
                guarded("on_added_job_graph", self.listener.on_added_job_graph(job_id)).await
            }
            Change::Removed(job_id) => {
                guarded("on_removed_job_graph", self.listener.on_removed_job_graph(job_id)).await
            }
        };
        if let Err(error) = told {
            tracing::error!(%error, "a listener failed; the next change is reported nevertheless");
        }
    }

    /// Waits for anything after which it must be read again.
    async fn wait(&mut self, watch: NodeWatch, again: Again) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            _ = watch => self.gather().await,
            () = self.log.settled(), if again == Again::Settled => self.gather().await,
            changed = self.context.status.next() => if changed.is_none() {
                // The session is gone with its services: nothing more will change.
                self.cancelled.cancelled().await;
            },
        }
    }

    /// While this process leads nobody else changes job graphs, but for a person by hand: a burst of own changes,
    /// which are not told, is read once, not one by one.
    async fn gather(&self) {
        if self.context.writer.session().is_some() {
            tokio::select! {
                () = self.cancelled.cancelled() => {}
                () = self.context.environment.clock.sleep(GATHER) => {}
            }
        }
    }
}

/// All job graphs, at least as new as all that was written before the call, and a watch on the set of them. Its
/// server may be another one than before, and behind.
async fn watched_snapshot(
    context: &StoreContext,
    client: &Arc<dyn ZooKeeperClient>,
) -> Result<(Snapshot, NodeWatch)> {
    let folder = context.writer.paths().job_graphs();
    loop {
        let (synced, listed) = futures::join!(client.sync(&folder), client.list_and_watch(&folder));
        synced.map_err(|error| error.at(&folder))?;
        match listed {
            Ok((names, _, watch)) => return Ok((snapshot_of(client, &folder, names).await?, watch)),
            Err(error) if error.code == ZkCode::NoNode => {
                // A listing of a missing folder registers no watch.
                match client.exists_and_watch(&folder).await {
                    Ok((None, watch)) => return Ok((Snapshot::new(), watch)),
                    Ok((Some(_), _)) => {}
                    Err(error) => return Err(error.at(&folder)),
                }
            }
            Err(error) => return Err(error.at(&folder)),
        }
    }
}

/// All job graphs, at least as new as all that was written before the call.
pub(super) async fn snapshot(context: &StoreContext) -> Result<Snapshot> {
    let folder = context.writer.paths().job_graphs();
    let client = context.writer.client().await?;
    let names = pointers::names(&client, &folder).await?;
    snapshot_of(&client, &folder, names).await
}

async fn snapshot_of(
    client: &Arc<dyn ZooKeeperClient>,
    folder: &str,
    names: Vec<String>,
) -> Result<Snapshot> {
    let nodes = pointers::nodes(client, folder, names).await?;
    Ok(nodes
        .into_iter()
        .filter_map(|(name, path, data, stat)| {
            let pointer = Pointer::decode(&path, StateKind::JobGraph, &data).ok();
            let seen = Seen {
                czxid: stat.czxid,
                write_id: pointer.as_ref().map(|pointer| pointer.write_id),
                ended: pointer.is_some_and(|pointer| pointer.terminal.is_some()),
            };
            Some((JobId::from_name(&name)?, seen))
        })
        .collect())
}
