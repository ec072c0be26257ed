use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::StreamExt as _;
use ha_core::checkpoints::{CompletedCheckpoint, CompletedCheckpointStore};
use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::JobStatus;

use super::checkpoint_files::{self, CheckpointFile};
use crate::reports::Reports;
use crate::state::state_path;
use crate::storage::HaStorage;

/// Files that are read at the same time.
const READERS: usize = 4;

/// The completed checkpoints of one job. A file is state and pointer in one: put in place whole, it is
/// acknowledged.
pub(super) struct FileSystemCompletedCheckpointStore {
    inner: Arc<Inner>,
}

struct Inner {
    storage: Arc<HaStorage>,
    reports: Reports,
    job_id: JobId,
    max_retained: usize,
    is_closed: AtomicBool,
    /// As of the last listing.
    retained: AtomicUsize,
}

impl FileSystemCompletedCheckpointStore {
    pub(super) fn new(
        storage: Arc<HaStorage>,
        health: HealthMonitor,
        job_id: JobId,
        max_retained: usize,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                storage,
                reports: Reports::new(health),
                job_id,
                max_retained,
                is_closed: AtomicBool::new(false),
                retained: AtomicUsize::new(0),
            }),
        }
    }

    /// Proves that the newest one can be read.
    pub(super) async fn recover(&self) -> Result<()> {
        self.inner.newest().await.map(drop)
    }
}

impl Inner {
    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Error::closed("the store of completed checkpoints"));
        }
        Ok(())
    }

    fn place(&self, file: &CheckpointFile) -> String {
        self.storage.display(file.path.as_str())
    }

    /// The checkpoints that are there, oldest first. Foreign names are reported.
    async fn list(&self) -> Result<Vec<CheckpointFile>> {
        let listed = checkpoint_files::list(&self.storage, self.job_id).await?;
        let folder = self
            .storage
            .display(state_path::checkpoint_folder(self.job_id).as_str());
        let mut present: BTreeSet<String> = listed.checkpoints.iter().map(|file| self.place(file)).collect();
        for (name, error) in listed.foreign {
            let path = format!("{folder}/{name}");
            self.reports.broken(name, &path, &error);
            present.insert(path);
        }
        self.reports.keep_present(&folder, &present);
        self.retained.store(listed.checkpoints.len(), Ordering::Release);
        Ok(listed.checkpoints)
    }

    /// The newest checkpoint, and the files of the older ones. An older one is never taken in its place.
    async fn newest(&self) -> Result<Option<(CompletedCheckpoint, Vec<CheckpointFile>)>> {
        loop {
            let mut older = self.list().await?;
            let Some(newest) = older.pop() else {
                return Ok(None);
            };
            match checkpoint_files::read(&self.storage, self.job_id, &newest).await {
                Ok(Some(checkpoint)) => {
                    self.reports.well(&self.place(&newest));
                    return Ok(Some((checkpoint, older)));
                }
                // A newer one subsumed it since it was listed.
                Ok(None) => {}
                Err(error) => {
                    let candidates = older.iter().rev().map(|file| self.place(file)).collect();
                    self.reports.broken_with_candidates(
                        newest.id.to_string(),
                        &self.place(&newest),
                        &error,
                        candidates,
                    );
                    return Err(error.advise(format!(
                        "put the file back from a copy; to go back to an older checkpoint, move this file away \
                         by hand while no process runs (see `hactl checkpoints {}`)",
                        self.job_id
                    )));
                }
            }
        }
    }

    async fn add(&self, checkpoint: &CompletedCheckpoint) -> Result<()> {
        let _held = self.storage.shared().lock(&lock_name(self.job_id)).await;
        let mut files = self.list().await?;
        let id = checkpoint.checkpoint_id;
        if let Some(newest) = files.last().filter(|newest| newest.id >= id) {
            return Err(Error::invalid(format!(
                "the checkpoint {id} is not newer than the newest one, {}",
                newest.id
            ))
            .at(self.place(newest)));
        }
        let environment = self.storage.environment();
        let writing = checkpoint_files::write(&self.storage, checkpoint);
        files.push(environment.step(steps::ADD_CHECKPOINT_FILE, writing).await?);
        // From here on it is acknowledged; what it subsumes and cannot be deleted is tried again by the next.
        let surplus = files.len().saturating_sub(self.max_retained);
        // The newest of them first, until one fails: where files cannot be deleted an add costs one attempt, however
        // many are left.
        for old in files.drain(..surplus).rev() {
            let deleting = self.storage.folder().delete(&old.path);
            let step = steps::SUBSUME_CHECKPOINT_FILE;
            if let Err(error) = environment.step(step, deleting).await {
                tracing::warn!(%error, "a subsumed checkpoint stays until the next one is added");
                break;
            }
        }
        self.retained.store(files.len(), Ordering::Release);
        Ok(())
    }

    /// Deletes all, oldest first: whatever is left by a failure, the newest is among it.
    async fn delete_all(&self) -> Result<()> {
        let _held = self.storage.shared().lock(&lock_name(self.job_id)).await;
        for file in self.list().await? {
            let deleting = self.storage.folder().delete(&file.path);
            let environment = self.storage.environment();
            environment.step(steps::REMOVE_CHECKPOINT_FILE, deleting).await?;
            self.reports.well(&self.place(&file));
        }
        let folder = state_path::checkpoint_folder(self.job_id);
        self.storage.folder().sweep(&folder, None).await?;
        self.storage.tidy_job(self.job_id).await;
        self.retained.store(0, Ordering::Release);
        Ok(())
    }
}

fn lock_name(job_id: JobId) -> String {
    format!("checkpoints/{job_id}")
}

#[async_trait]
impl CompletedCheckpointStore for FileSystemCompletedCheckpointStore {
    async fn add_and_subsume(&self, checkpoint: CompletedCheckpoint) -> Result<()> {
        self.inner.check_open()?;
        if checkpoint.job_id != self.inner.job_id {
            return Err(Error::invalid(format!(
                "the checkpoint belongs to the job {}, the store to {}",
                checkpoint.job_id, self.inner.job_id
            )));
        }
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.add-checkpoint", async move {
                inner.add(&checkpoint).await
            })
            .await
    }

    async fn latest(&self) -> Result<Option<CompletedCheckpoint>> {
        self.inner.check_open()?;
        Ok(self.inner.newest().await?.map(|(newest, _)| newest))
    }

    async fn all(&self) -> Result<Vec<CompletedCheckpoint>> {
        self.inner.check_open()?;
        let inner = &self.inner;
        let Some((newest, older)) = inner.newest().await? else {
            return Ok(Vec::new());
        };
        let read: Vec<_> = futures::stream::iter(older)
            .map(|file| async move {
                let read = checkpoint_files::read(&inner.storage, inner.job_id, &file).await;
                (file, read)
            })
            .buffered(READERS)
            .collect()
            .await;
        let mut all = Vec::with_capacity(read.len() + 1);
        for (file, read) in read {
            match read {
                Ok(Some(checkpoint)) => {
                    inner.reports.well(&inner.place(&file));
                    all.push(checkpoint);
                }
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    inner
                        .reports
                        .broken(file.id.to_string(), &inner.place(&file), &error);
                }
                Err(error) => return Err(error),
            }
        }
        all.push(newest);
        Ok(all)
    }

    async fn num_retained(&self) -> usize {
        self.inner.retained.load(Ordering::Acquire)
    }

    fn max_retained(&self) -> usize {
        self.inner.max_retained
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        self.inner.is_closed.store(true, Ordering::Release);
        if !status.is_globally_terminal() {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.delete-checkpoints", async move {
                inner.delete_all().await
            })
            .await
    }
}
