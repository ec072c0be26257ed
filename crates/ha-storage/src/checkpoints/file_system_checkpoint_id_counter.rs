use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use async_trait::async_trait;
use ha_core::checkpoints::CheckpointIdCounter;
use ha_core::environment::steps;
use ha_core::error::{Error, Result};
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobStatus;

use super::checkpoint_files;
use crate::shared::lock;
use crate::state::{StateKind, state_path};
use crate::storage::{HaStorage, corrupt};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Started,
    Closed,
}

/// The counter of one job: the next id, in decimal, in a state file. All counters of a job in this process are
/// one: they share a lock, and remember together what was given, so that an id never repeats even when the file
/// is removed under them.
pub(super) struct FileSystemCheckpointIdCounter {
    inner: Arc<Inner>,
    stage: Mutex<Stage>,
}

struct Inner {
    storage: Arc<HaStorage>,
    job_id: JobId,
}

impl FileSystemCheckpointIdCounter {
    pub(super) fn new(storage: Arc<HaStorage>, job_id: JobId) -> Self {
        Self {
            inner: Arc::new(Inner { storage, job_id }),
            stage: Mutex::new(Stage::New),
        }
    }

    fn check_started(&self) -> Result<()> {
        match *lock(&self.stage) {
            Stage::New => Err(Error::invalid("the checkpoint id counter was not started")),
            Stage::Started => Ok(()),
            Stage::Closed => Err(closed()),
        }
    }
}

impl Inner {
    async fn lock(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.storage
            .shared()
            .lock(&format!("counter/{}", self.job_id))
            .await
    }

    /// What the file says, `None` when it is missing.
    async fn stored(&self) -> Result<Option<u64>> {
        let path = state_path::counter_file(self.job_id);
        let kind = StateKind::CheckpointIdCounter;
        let Some(state) = self.storage.read_state(&path, kind, self.job_id).await? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&state.payload);
        match text.parse() {
            // One beyond the largest id: all are given.
            Ok(next) if (1..=CheckpointId::MAX.get() + 1).contains(&next) => Ok(Some(next)),
            _ => Err(corrupt(format!("{text:?} is not the next checkpoint id"))
                .at(self.storage.display(path.as_str()))
                .advise("put the file back from a copy, or delete it: the counter then goes on above the newest checkpoint")),
        }
    }

    /// The id to be given next: never one that was given, never one of a checkpoint that is there when the file
    /// is not.
    async fn next(&self) -> Result<u64> {
        let floor = self.storage.shared().highest_given(self.job_id) + 1;
        let next = match self.stored().await? {
            Some(next) => next,
            None => self.above_newest().await?,
        };
        Ok(next.max(floor))
    }

    /// One above the newest checkpoint; 1 when there is none.
    async fn above_newest(&self) -> Result<u64> {
        let newest = checkpoint_files::newest_id(&self.storage, self.job_id).await?;
        Ok(newest.map_or(0, CheckpointId::get) + 1)
    }

    async fn write(&self, next: u64) -> Result<()> {
        let path = state_path::counter_file(self.job_id);
        let kind = StateKind::CheckpointIdCounter;
        let text = next.to_string();
        self.storage
            .replace_state(&path, kind, self.job_id, BTreeMap::new(), text.as_bytes())
            .await
    }

    async fn start(&self) -> Result<()> {
        let _held = self.lock().await;
        let next = self.next().await?.max(self.above_newest().await?);
        if self.stored().await? != Some(next) {
            self.write(next).await?;
        }
        Ok(())
    }

    async fn increment(&self) -> Result<CheckpointId> {
        let _held = self.lock().await;
        let id = CheckpointId::new(self.next().await?)?;
        // Before the write: an id whose write was lost is given up.
        self.storage.shared().note_given(self.job_id, id.get());
        let writing = self.write(id.get() + 1);
        let environment = self.storage.environment();
        environment.step(steps::INCREMENT_COUNTER, writing).await?;
        Ok(id)
    }

    async fn raise(&self, next: CheckpointId) -> Result<()> {
        let _held = self.lock().await;
        if next.get() > self.next().await? {
            self.write(next.get()).await?;
        }
        Ok(())
    }

    async fn delete(&self) -> Result<()> {
        let _held = self.lock().await;
        let path = state_path::counter_file(self.job_id);
        let deleting = self.storage.folder().delete(&path);
        let environment = self.storage.environment();
        environment.step(steps::REMOVE_COUNTER, deleting).await?;
        self.storage.shared().forget(self.job_id);
        self.storage.tidy_job(self.job_id).await;
        Ok(())
    }
}

fn closed() -> Error {
    Error::closed("the checkpoint id counter")
}

#[async_trait]
impl CheckpointIdCounter for FileSystemCheckpointIdCounter {
    async fn start(&self) -> Result<()> {
        if *lock(&self.stage) == Stage::Closed {
            return Err(closed());
        }
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.start-counter", async move { inner.start().await })
            .await?;
        let mut stage = lock(&self.stage);
        if *stage == Stage::Closed {
            return Err(closed());
        }
        *stage = Stage::Started;
        Ok(())
    }

    async fn get_and_increment(&self) -> Result<CheckpointId> {
        self.check_started()?;
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.increment", async move { inner.increment().await })
            .await
    }

    async fn get(&self) -> Result<CheckpointId> {
        self.check_started()?;
        CheckpointId::new(self.inner.next().await?)
    }

    async fn set_count(&self, next: CheckpointId) -> Result<()> {
        self.check_started()?;
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.set-counter", async move { inner.raise(next).await })
            .await
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        *lock(&self.stage) = Stage::Closed;
        if !status.is_globally_terminal() {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.delete-counter", async move { inner.delete().await })
            .await
    }
}
