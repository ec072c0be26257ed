use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::health::{HealthMonitor, Recovered};
use ha_core::ids::JobId;
use ha_core::jobs::{JobResultEntry, JobResultStore};

use super::codec;
use super::folder_watch::FolderWatch;
use super::job_result_store_settings::JobResultStoreSettings;
use super::result_file::{self, Progress, ResultName};
use crate::folder::{Creation, DurableFolder, RelativePath, at_most, is_temporary};
use crate::reports::Reports;
use crate::shared::Shared;
use crate::storage::{HaStorage, Location, StorageBase, corrupt};

/// The folder of all clusters' results in the storage directory.
const RESULTS: &str = "job-results-store";
/// Files that are read at the same time.
const READERS: usize = 16;

/// Results as files, one a job: `<job-id>_DIRTY.json` until the clean-up is complete, then `<job-id>.json`. Both
/// there means clean. Clean files may be deleted by hand; the job id may then run again.
///
/// The create-only dirty file decides the end of a job in the modes of one process. In ZooKeeper mode the
/// pointer decides, and [`FileSystemJobResultStore::record_decided_result`] writes the file.
///
/// Look-ups ask for one file by name, whatever the number of results.
pub struct FileSystemJobResultStore {
    storage: Arc<HaStorage>,
    pub(super) folder: DurableFolder,
    /// The folder is a configured one, which other clusters may share.
    pub(super) is_configured: bool,
    /// Of the results' folder, which two clusters may share.
    shared: Arc<Shared>,
    watch: FolderWatch,
    reports: Reports,
    delete_on_commit: bool,
}

impl FileSystemJobResultStore {
    /// Opens the results of the storage's cluster. Makes nothing in the default folder before the first write;
    /// a `storage_path` of its own is made when it is missing.
    ///
    /// # Errors
    /// `Invalid`, `Denied`, `Unavailable` when `storage_path` cannot be used.
    pub async fn open(
        storage: Arc<HaStorage>,
        settings: JobResultStoreSettings,
        health: HealthMonitor,
    ) -> Result<Arc<Self>> {
        Self::open_with(storage, settings, health, true).await
    }

    /// The same for reading: makes nothing.
    ///
    /// # Errors
    /// As [`FileSystemJobResultStore::open`], and `NotFound` when a `storage_path` is missing.
    pub async fn open_existing(
        storage: Arc<HaStorage>,
        settings: JobResultStoreSettings,
        health: HealthMonitor,
    ) -> Result<Arc<Self>> {
        Self::open_with(storage, settings, health, false).await
    }

    /// Results in the default folder, which needs no I/O to be opened.
    pub fn in_storage(storage: Arc<HaStorage>, delete_on_commit: bool, health: HealthMonitor) -> Arc<Self> {
        let prefix = [RESULTS, storage.cluster_id().as_str()];
        let folder = storage.base().folder(&prefix, storage.environment());
        let shared = storage.base().shared_or(&folder, storage.shared());
        Self::build(storage, folder, shared, delete_on_commit, health, false)
    }

    async fn open_with(
        storage: Arc<HaStorage>,
        settings: JobResultStoreSettings,
        health: HealthMonitor,
        create: bool,
    ) -> Result<Arc<Self>> {
        let Some(path) = settings.storage_path else {
            return Ok(Self::in_storage(storage, settings.delete_on_commit, health));
        };
        let base = StorageBase::open(Location::parse(&path)?, create).await?;
        let folder = base.folder(&[], storage.environment());
        let shared = base.shared_or(&folder, storage.shared());
        Ok(Self::build(
            storage,
            folder,
            shared,
            settings.delete_on_commit,
            health,
            true,
        ))
    }

    fn build(
        storage: Arc<HaStorage>,
        folder: DurableFolder,
        shared: Arc<Shared>,
        delete_on_commit: bool,
        health: HealthMonitor,
        is_configured: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            storage,
            is_configured,
            watch: FolderWatch::new(folder.clone(), health.clone()),
            folder,
            shared,
            reports: Reports::new(health),
            delete_on_commit,
        })
    }

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
                folder.replace(&path, content).await
            })
            .await?;
        self.reports.well(&place);
        Ok(())
    }

    /// Where the dirty file of a job is, or would be; for people.
    pub fn dirty_place(&self, job_id: JobId) -> String {
        self.folder.display(&result_file::path(job_id, Progress::Dirty))
    }

    /// Deletes what writes of ended processes left under temporary names, older than `age` by the store's own
    /// clock. Gives how many were deleted.
    ///
    /// # Errors
    /// The first failure.
    pub async fn sweep_temporary_files(&self, age: Duration) -> Result<usize> {
        let now = self.storage.store_time().await?;
        let until = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        self.folder.sweep(&RelativePath::root(), Some(until)).await
    }

    /// The folder, for people.
    pub(super) fn place(&self) -> String {
        self.folder.display(&RelativePath::root())
    }

    /// One writer a job at a time in this process; between processes the create-only file decides.
    async fn lock(&self, job_id: JobId) -> tokio::sync::OwnedMutexGuard<()> {
        self.shared.lock(&format!("result/{job_id}")).await
    }

    /// Whether a job's file is there, readable or not: an odd thing under its name blocks the job too.
    async fn is_there(&self, job_id: JobId, progress: Progress) -> Result<bool> {
        let path = result_file::path(job_id, progress);
        match self.folder.stat(&path).await {
            Ok(info) => Ok(info.is_some()),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let place = self.folder.display(&path);
                if error.subject() != Some(&place) {
                    return Err(error);
                }
                self.reports.broken(job_id.to_string(), &place, &error);
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// How far the job's end is; `None` when it has not ended.
    async fn progress(&self, job_id: JobId) -> Result<Option<Progress>> {
        // In this order: a result that is being marked clean is at every moment under one name at least, the
        // clean one last.
        let is_dirty = self.is_there(job_id, Progress::Dirty).await?;
        if self.is_there(job_id, Progress::Clean).await? {
            return Ok(Some(Progress::Clean));
        }
        if is_dirty {
            return Ok(Some(Progress::Dirty));
        }
        self.watch.check().await?;
        Ok(None)
    }

    async fn read(&self, job_id: JobId, progress: Progress) -> Result<Option<(JobResultEntry, Bytes)>> {
        let path = result_file::path(job_id, progress);
        let place = self.folder.display(&path);
        let read = match self.folder.read(&path, at_most(codec::MAX_FILE)).await {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => match codec::decode(&bytes, job_id) {
                Ok(entry) => Ok(Some((entry, bytes))),
                Err(reason) => Err(corrupt(reason).at(place.clone()).advise(
                    "the job counts as ended; correct the file, or delete it to let the job run again",
                )),
            },
            Err(error) => Err(error),
        };
        match &read {
            Ok(_) => self.reports.well(&place),
            Err(error) => drop(self.reports.broken(job_id.to_string(), &place, error)),
        }
        read
    }

    /// All results of one progress.
    async fn results(&self, wanted: Progress) -> Result<Recovered<JobResultEntry>> {
        self.watch.check().await?;
        let mut recovered = Recovered::default();
        let mut jobs = BTreeSet::new();
        let mut clean = BTreeSet::new();
        let mut present = BTreeSet::new();
        for entry in self.folder.list(&RelativePath::root()).await?.unwrap_or_default() {
            let place = format!("{}/{}", self.place(), entry.name);
            match result_file::parse(&entry.name) {
                ResultName::Of(job_id, progress) => {
                    if progress == Progress::Clean {
                        clean.insert(job_id);
                    }
                    if progress == wanted {
                        jobs.insert(job_id);
                    }
                }
                ResultName::Foreign if !is_temporary(&entry.name) => {
                    let error = Error::new(
                        ErrorKind::Corrupt,
                        "foreign: the name is not that of a job's result",
                    );
                    recovered
                        .broken
                        .push(self.reports.broken(entry.name, &place, &error));
                }
                ResultName::Foreign | ResultName::Other => {}
            }
            present.insert(place);
        }
        self.reports.keep_present(&self.place(), &present);
        if wanted == Progress::Dirty {
            jobs.retain(|job_id| !clean.contains(job_id));
        }
        let mut read: Vec<_> = futures::stream::iter(jobs)
            .map(|job_id| async move { (job_id, self.read(job_id, wanted).await) })
            .buffer_unordered(READERS)
            .collect()
            .await;
        read.sort_by_key(|(job_id, _)| *job_id);
        for (job_id, result) in read {
            match result {
                Ok(Some((entry, _))) => recovered.entries.push(entry),
                // Marked clean since it was listed.
                Ok(None) => {}
                Err(error) => {
                    let place = self.folder.display(&result_file::path(job_id, wanted));
                    recovered
                        .broken
                        .push(self.reports.broken(job_id.to_string(), &place, &error));
                }
            }
        }
        Ok(recovered)
    }
}

#[async_trait]
impl JobResultStore for FileSystemJobResultStore {
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()> {
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
        if exists || self.folder.create(&path, content).await? == Creation::Exists {
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

    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()> {
        let _held = self.lock(job_id).await;
        let dirty = result_file::path(job_id, Progress::Dirty);
        match self.progress(job_id).await? {
            None => {
                return Err(Error::new(ErrorKind::NotFound, "no end of the job is recorded")
                    .at(self.folder.display(&dirty))
                    .not_applied());
            }
            // A crash between the two steps may have left the dirty file.
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
                    self.folder.create(&clean, content).await?;
                }
            }
        }
        self.folder.delete(&dirty).await?;
        Ok(())
    }

    async fn has_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.progress(job_id).await?.is_some())
    }

    async fn has_dirty_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.progress(job_id).await? == Some(Progress::Dirty))
    }

    async fn has_clean_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.progress(job_id).await? == Some(Progress::Clean))
    }

    async fn job_result_entry(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        match self.progress(job_id).await? {
            None => Ok(None),
            Some(Progress::Clean) => Ok(self.read(job_id, Progress::Clean).await?.map(|(entry, _)| entry)),
            Some(Progress::Dirty) => match self.read(job_id, Progress::Dirty).await? {
                Some((entry, _)) => Ok(Some(entry)),
                // Marked clean in between.
                None => Ok(self.read(job_id, Progress::Clean).await?.map(|(entry, _)| entry)),
            },
        }
    }

    async fn dirty_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.results(Progress::Dirty).await
    }

    async fn clean_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.results(Progress::Clean).await
    }
}
