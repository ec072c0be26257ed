use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ha_core::environment::{Environment, TaskScope};

use crate::AdminClient;
use crate::waiting::pause;

const INTERVAL: Duration = Duration::from_millis(15);

/// A checkpoint whose pointer was seen in ZooKeeper: from then on it is acknowledged, whoever knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenCheckpoint {
    /// Its id.
    pub id: u64,
    /// The transaction that published it.
    pub czxid: i64,
}

/// Watches the checkpoint pointers of a job in ZooKeeper, independent of what the processes say.
pub struct CheckpointWatch {
    seen: Arc<Mutex<BTreeMap<i64, u64>>>,
    admin: AdminClient,
    parent: String,
    // Dropping it ends the watching.
    _scope: TaskScope,
}

impl CheckpointWatch {
    /// Begins to watch the children of the znode `parent`, which may come later.
    pub fn start(admin: AdminClient, parent: String) -> Self {
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let scope = Environment::system().task_scope();
        let cancelled = scope.cancellation();
        scope.spawn("checkpoint-watch", {
            let (admin, parent, seen) = (admin.clone(), parent.clone(), Arc::clone(&seen));
            async move {
                while !cancelled.is_cancelled() {
                    // A lost connection heals; the next look sees what is there then.
                    let _ = look(&admin, &parent, &seen).await;
                    pause(INTERVAL).await;
                }
            }
        });
        Self {
            seen,
            admin,
            parent,
            _scope: scope,
        }
    }

    /// The newest checkpoint that is acknowledged right now.
    ///
    /// # Errors
    /// There is none, or ZooKeeper does not answer.
    pub async fn newest(&self) -> Result<SeenCheckpoint> {
        look(&self.admin, &self.parent, &self.seen).await?;
        self.all()
            .last()
            .copied()
            .context("no checkpoint is acknowledged yet")
    }

    /// All that were seen, in the order of the transactions that published them.
    pub fn all(&self) -> Vec<SeenCheckpoint> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter()
            .map(|(&czxid, &id)| SeenCheckpoint { id, czxid })
            .collect()
    }

    /// Fails unless the ids strictly increase over the whole run.
    ///
    /// # Errors
    /// The first two that do not.
    pub fn expect_strictly_increasing(&self) -> Result<()> {
        for pair in self.all().windows(2) {
            if let [first, second] = pair
                && first.id >= second.id
            {
                bail!("checkpoint {first:?} was followed by {second:?}");
            }
        }
        Ok(())
    }
}

async fn look(admin: &AdminClient, parent: &str, seen: &Mutex<BTreeMap<i64, u64>>) -> Result<()> {
    for name in admin.children(parent).await? {
        let Ok(id) = name.parse::<u64>() else {
            bail!("{parent}/{name} is no checkpoint id");
        };
        if let Some(node) = admin.node(&format!("{parent}/{name}")).await? {
            seen.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(node.stat.czxid, id);
        }
    }
    Ok(())
}
