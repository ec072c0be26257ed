use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

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
use crate::folder::{DurableFolder, RelativePath, at_most, is_temporary};
use crate::reports::Reports;
use crate::shared::Shared;
use crate::storage::{HaStorage, PROBE_PREFIX, StorageBase, corrupt};

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
    pub(super) storage: Arc<HaStorage>,
    pub(super) folder: DurableFolder,
    /// The folder is a configured one, which other clusters may share.
    pub(super) is_configured: bool,
    /// Of the results' folder, which two clusters may share.
    shared: Arc<Shared>,
    pub(super) watch: FolderWatch,
    pub(super) reports: Reports,
    pub(super) delete_on_commit: bool,
    /// How long clean results are kept.
    pub(super) clean_retention: Option<Duration>,
    /// Itself, for calls that go on to their end.
    this: Weak<Self>,
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
        let settings = JobResultStoreSettings {
            delete_on_commit,
            ..JobResultStoreSettings::default()
        };
        Self::in_default_folder(storage, &settings, health)
    }

    fn in_default_folder(
        storage: Arc<HaStorage>,
        settings: &JobResultStoreSettings,
        health: HealthMonitor,
    ) -> Arc<Self> {
        let prefix = [RESULTS, storage.cluster_id().as_str()];
        let folder = storage.base().folder(&prefix, storage.environment());
        let shared = storage.base().shared_or(&folder, storage.shared());
        Self::build(storage, folder, shared, settings, health)
    }

    async fn open_with(
        storage: Arc<HaStorage>,
        settings: JobResultStoreSettings,
        health: HealthMonitor,
        create: bool,
    ) -> Result<Arc<Self>> {
        let Some(path) = &settings.storage_path else {
            return Ok(Self::in_default_folder(storage, &settings, health));
        };
        let base = StorageBase::open(path, create).await?;
        let folder = base.folder(&[], storage.environment());
        let shared = base.shared_or(&folder, storage.shared());
        if create {
            prove_writable(&folder, &storage).await?;
        }
        Ok(Self::build(storage, folder, shared, &settings, health))
    }

    fn build(
        storage: Arc<HaStorage>,
        folder: DurableFolder,
        shared: Arc<Shared>,
        settings: &JobResultStoreSettings,
        health: HealthMonitor,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            storage,
            is_configured: settings.storage_path.is_some(),
            watch: FolderWatch::new(folder.clone(), health.clone()),
            folder,
            shared,
            reports: Reports::new(health),
            delete_on_commit: settings.delete_on_commit,
            clean_retention: settings.clean_retention,
        })
    }

    /// Where the dirty file of a job is, or would be; for people.
    pub fn dirty_place(&self, job_id: JobId) -> String {
        self.folder.display(&result_file::path(job_id, Progress::Dirty))
    }

    /// Where the result of a job is that is cleaned up, for people.
    pub fn clean_place(&self, job_id: JobId) -> String {
        self.folder.display(&result_file::path(job_id, Progress::Clean))
    }

    /// Whether the result of a job goes when it is cleaned up.
    pub const fn deletes_on_commit(&self) -> bool {
        self.delete_on_commit
    }

    /// This store, to be kept by a call that goes on after its caller has stopped waiting.
    fn handle(&self) -> Result<Arc<Self>> {
        self.this
            .upgrade()
            .ok_or_else(|| Error::closed("the job result store"))
    }

    /// The folder, for people.
    pub(super) fn place(&self) -> String {
        self.folder.display(&RelativePath::root())
    }

    /// One writer a job at a time in this process; between processes the create-only file decides.
    pub(super) async fn lock(&self, job_id: JobId) -> tokio::sync::OwnedMutexGuard<()> {
        self.shared.lock(&format!("result/{job_id}")).await
    }

    /// Whether a job's file is there, readable or not: an odd thing under its name blocks the job too.
    pub(super) async fn is_there(&self, job_id: JobId, progress: Progress) -> Result<bool> {
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
    pub(super) async fn progress(&self, job_id: JobId) -> Result<Option<Progress>> {
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

    pub(super) async fn read(
        &self,
        job_id: JobId,
        progress: Progress,
    ) -> Result<Option<(JobResultEntry, Bytes)>> {
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
        // A folder that vanished meanwhile has no results to give, which is not none.
        self.watch.check().await?;
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

/// Writes a file and deletes it: what cannot be written is found now, not at the end of the first job.
async fn prove_writable(folder: &DurableFolder, storage: &HaStorage) -> Result<()> {
    let name = format!("{PROBE_PREFIX}{}", storage.environment().ids.uuid());
    let Some(probe) = RelativePath::root().child(&name) else {
        return Ok(());
    };
    folder.try_out(&probe).await.map(drop)
}

#[async_trait]
impl JobResultStore for FileSystemJobResultStore {
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()> {
        let (store, entry) = (self.handle()?, entry.clone());
        self.storage
            .to_the_end("ha-storage.create-result", async move {
                store.create_dirty(&entry).await
            })
            .await
    }

    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()> {
        let store = self.handle()?;
        self.storage
            .to_the_end("ha-storage.mark-result-clean", async move {
                store.mark_clean(job_id).await
            })
            .await
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
