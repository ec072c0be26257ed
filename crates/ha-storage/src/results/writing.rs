//! Recording ends. Each call holds the job's lock to its end, even when its caller stops waiting.

use bytes::Bytes;
use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::JobId;
use ha_core::jobs::JobResultEntry;

use super::result_file::{self, Progress};
use super::{FileSystemJobResultStore, codec};
use crate::folder::{Creation, at_most};

impl FileSystemJobResultStore {
    /// Writes the dirty file of an end that was decided elsewhere (the fenced pointer). Equal content that is
    /// there already is success, other content was left by a deposed process and is replaced; where the result
    /// is clean nothing is written. The caller leads: this write is not fenced.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`: repeat it.
    pub async fn record_decided_result(&self, entry: &JobResultEntry) -> Result<()> {
        let content = Bytes::from(codec::encode(entry)?);
        let job_id = entry.job_id();
        let held = self.lock(job_id).await;
        if self.is_there(job_id, Progress::Clean).await? {
            return Ok(());
        }
        let path = result_file::path(job_id, Progress::Dirty);
        // What is too long to be ours is replaced like other foreign content.
        let found = match self.folder.read(&path, at_most(codec::MAX_FILE)).await {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Corrupt && self.folder.stat(&path).await.is_ok() => None,
            Err(error) => return Err(error),
        };
        if found.as_ref() == Some(&content) {
            return Ok(());
        }
        if found.is_some() {
            tracing::warn!(
                file = self.folder.display(&path),
                "replacing a result file that a deposed process left"
            );
        }
        let folder = self.folder.clone();
        let place = folder.display(&path);
        self.storage
            .to_the_end("ha-storage.record-result", async move {
                let _held = held;
                let replacing = folder.replace(&path, content);
                folder.environment().step(steps::END_FILE, replacing).await
            })
            .await?;
        self.reports.well(&place);
        Ok(())
    }

    /// Decides the end of a job.
    pub(super) async fn create_dirty(&self, entry: &JobResultEntry) -> Result<()> {
        let content = Bytes::from(codec::encode(entry)?);
        let job_id = entry.job_id();
        let _held = self.lock(job_id).await;
        let exists = match self.progress(job_id).await {
            Ok(progress) => progress.is_some(),
            // The end is recorded in a folder made anew; the condition stays until somebody has looked.
            Err(error) if error.kind() == ErrorKind::Unavailable && self.watch.check().await.is_err() => {
                tracing::error!(%error, "recording a result nevertheless");
                false
            }
            Err(error) => return Err(error),
        };
        let path = result_file::path(job_id, Progress::Dirty);
        let environment = self.folder.environment();
        let creating = self.folder.create(&path, content);
        if exists || environment.step(steps::END_FILE, creating).await? == Creation::Exists {
            return Err(
                Error::new(ErrorKind::AlreadyExists, "the end of the job is recorded already")
                    .at(self.folder.display(&path))
                    .advise("the recorded end stands; read it with job_result_entry")
                    .not_applied(),
            );
        }
        // From now on the folder is known; a failure is reported as a condition.
        let _ = self.watch.check().await;
        Ok(())
    }

    /// Whether the clean file can be read; one that cannot be is reported.
    pub(super) async fn is_readable_clean(&self, job_id: JobId) -> bool {
        matches!(self.read(job_id, Progress::Clean).await, Ok(Some(_)))
    }

    /// Makes a dirty result a clean one, or deletes it.
    pub(super) async fn mark_clean(&self, job_id: JobId) -> Result<()> {
        let _held = self.lock(job_id).await;
        let environment = self.folder.environment();
        let dirty = result_file::path(job_id, Progress::Dirty);
        match self.progress(job_id).await? {
            None => {
                return Err(Error::new(ErrorKind::NotFound, "no end of the job is recorded")
                    .at(self.folder.display(&dirty))
                    .not_applied());
            }
            // A crash between the two steps may have left the dirty file. Beside an unreadable clean one it is all
            // that is known of the end.
            Some(Progress::Clean) if !self.is_readable_clean(job_id).await => return Ok(()),
            Some(Progress::Clean) => {}
            Some(Progress::Dirty) => {
                let Some((_, content)) = self.read(job_id, Progress::Dirty).await? else {
                    return Err(
                        Error::new(ErrorKind::Conflict, "the result was removed in this moment")
                            .at(self.folder.display(&dirty))
                            .not_applied(),
                    );
                };
                if !self.delete_on_commit {
                    let clean = result_file::path(job_id, Progress::Clean);
                    let creating = self.folder.create(&clean, content);
                    environment.step(steps::MARK_CLEAN_FILE, creating).await?;
                }
            }
        }
        let deleting = self.folder.delete(&dirty);
        let step = steps::MARK_CLEAN_DIRTY_FILE;
        environment.step(step, deleting).await.map(drop)
    }
}
