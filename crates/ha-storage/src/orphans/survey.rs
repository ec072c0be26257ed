use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use ha_core::error::{ErrorKind, Result};
use ha_core::ids::{BlobKey, JobId};

use super::observed_file::{FileKind, ForeignFile, ObservedFile};
use crate::folder::{DurableFolder, Entry, EntryKind, RelativePath, is_temporary};
use crate::results::{FileSystemJobResultStore, Progress, ResultName, parse_result_name};
use crate::state::StateKind;
use crate::state::state_path::{
    self, BLOBS, CHECKPOINTS, COUNTER, IDENTITY, JOB_GRAPHS, JOBS, REGISTRY, layout,
};
use crate::storage::HaStorage;

/// By which clock files are dated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dating {
    /// The store's own: a marker file is written, looked at, and deleted.
    Store,
    /// This host's. Writes nothing, and proves nothing: what it gives is to be shown to people, never to be deleted.
    ThisHost,
}

/// All files of a cluster, as they were listed.
#[derive(Clone, Debug)]
pub struct Survey {
    /// When it began, by the store's own clock: the last modification of a marker file written then.
    pub(super) store_time: SystemTime,
    pub(super) files: Vec<ObservedFile>,
    pub(super) foreign: Vec<ForeignFile>,
    /// Jobs whose end is recorded and whose clean-up is not complete.
    pub(super) dirty_jobs: BTreeSet<JobId>,
}

impl Survey {
    /// Lists every file of the cluster, and of its results. Writes a marker, by which files are dated, and deletes
    /// it; touches nothing else.
    ///
    /// What stands in the place of a folder becomes foreign, and hides no other folder.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`: what could not be listed is not known to be there, so there is no survey.
    pub async fn make(storage: &HaStorage, results: &FileSystemJobResultStore) -> Result<Self> {
        // First, so that no file is taken for older than it is.
        let store_time = storage.store_time().await?;
        Ok(Self {
            store_time,
            ..Self::undated(storage, results).await?
        })
    }

    /// The same by another clock.
    ///
    /// # Errors
    /// As [`Survey::make`].
    pub async fn make_by(
        dating: Dating,
        storage: &HaStorage,
        results: &FileSystemJobResultStore,
    ) -> Result<Self> {
        match dating {
            Dating::Store => Self::make(storage, results).await,
            Dating::ThisHost => {
                let now = Duration::from_millis(storage.environment().clock.wall_time_millis());
                Ok(Self {
                    store_time: SystemTime::UNIX_EPOCH + now,
                    ..Self::undated(storage, results).await?
                })
            }
        }
    }

    /// The same for reading only: writes no marker, so that no file counts as old.
    ///
    /// # Errors
    /// As [`Survey::make`].
    pub async fn undated(storage: &HaStorage, results: &FileSystemJobResultStore) -> Result<Self> {
        let mut survey = Self::nothing();
        survey.add_cluster(storage.folder()).await?;
        survey.add_results(results).await?;
        Ok(survey)
    }

    /// The blobs of all jobs, in no order, and what is in their folders and not of the layout. Temporary files are left
    /// out. Writes nothing, and reads no blob.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`: a listing that is not whole is none.
    pub async fn blobs(storage: &HaStorage) -> Result<(Vec<ObservedFile>, Vec<ForeignFile>)> {
        let mut survey = Self::nothing();
        survey.add_blobs(storage.folder()).await?;
        survey.files.retain(|file| file.kind == FileKind::Blob);
        Ok((survey.files, survey.foreign))
    }

    /// The results that are kept for a cluster, and what is in their folder and not of the layout. Writes nothing, and
    /// reads none.
    ///
    /// # Errors
    /// As [`Survey::blobs`].
    pub async fn results(
        results: &FileSystemJobResultStore,
    ) -> Result<(Vec<ObservedFile>, Vec<ForeignFile>)> {
        let mut survey = Self::nothing();
        survey.add_results(results).await?;
        Ok((survey.files, survey.foreign))
    }

    /// A survey that lists nothing, for an observation that refuses.
    pub const fn nothing() -> Self {
        Self {
            store_time: SystemTime::UNIX_EPOCH,
            files: Vec::new(),
            foreign: Vec::new(),
            dirty_jobs: BTreeSet::new(),
        }
    }

    /// The files, unread.
    pub fn files(&self) -> &[ObservedFile] {
        &self.files
    }

    /// The files, unread, to be kept in another form.
    pub fn into_files(self) -> Vec<ObservedFile> {
        self.files
    }

    /// What is not of the layout.
    pub fn foreign(&self) -> &[ForeignFile] {
        &self.foreign
    }

    /// The jobs whose end is recorded and whose clean-up is not complete.
    pub const fn dirty_jobs(&self) -> &BTreeSet<JobId> {
        &self.dirty_jobs
    }

    async fn add_cluster(&mut self, folder: &DurableFolder) -> Result<()> {
        let root = RelativePath::root();
        for entry in self.list(folder, &root).await? {
            match (entry.kind, &*entry.name) {
                (EntryKind::File, IDENTITY) => {}
                (EntryKind::Folder, JOB_GRAPHS) => self.add_graphs(folder).await?,
                (EntryKind::Folder, JOBS) => self.add_jobs(folder).await?,
                (EntryKind::Folder, REGISTRY) => self.add_registry(folder).await?,
                (EntryKind::Folder, BLOBS) => self.add_blobs(folder).await?,
                _ => self.add_other(folder, &root, None, &entry).await?,
            }
        }
        Ok(())
    }

    async fn add_graphs(&mut self, folder: &DurableFolder) -> Result<()> {
        let path = layout([JOB_GRAPHS]);
        for entry in self.list(folder, &path).await? {
            let name = &entry.name;
            let found = match state_path::job_of_graph_file(name) {
                Some(owner) => Some((FileKind::FileBacked, owner)),
                None => state_path::job_of_graph_state(name).map(|owner| (FileKind::JobGraph, owner)),
            };
            self.add_entry(folder, &path, found, None, &entry).await?;
        }
        Ok(())
    }

    async fn add_jobs(&mut self, folder: &DurableFolder) -> Result<()> {
        for owner in self.add_job_folders(folder, JOBS).await? {
            let path = state_path::job_folder(owner);
            for entry in self.list(folder, &path).await? {
                if entry.kind == EntryKind::Folder && entry.name == CHECKPOINTS {
                    self.add_checkpoints(folder, owner).await?;
                } else {
                    let found = (entry.name == COUNTER).then_some((FileKind::FileBacked, owner));
                    self.add_entry(folder, &path, found, Some(owner), &entry).await?;
                }
            }
        }
        Ok(())
    }

    async fn add_checkpoints(&mut self, folder: &DurableFolder, owner: JobId) -> Result<()> {
        let path = state_path::checkpoint_folder(owner);
        for entry in self.list(folder, &path).await? {
            let found = state_path::checkpoint_of_state(&entry.name).map(|_| (FileKind::Checkpoint, owner));
            self.add_entry(folder, &path, found, Some(owner), &entry).await?;
        }
        Ok(())
    }

    async fn add_registry(&mut self, folder: &DurableFolder) -> Result<()> {
        let path = state_path::folder_of(StateKind::RunningJob, JobId::from_bytes([0; 16]));
        for entry in self.list(folder, &path).await? {
            let found = JobId::from_name(&entry.name).map(|owner| (FileKind::FileBacked, owner));
            self.add_entry(folder, &path, found, None, &entry).await?;
        }
        Ok(())
    }

    async fn add_blobs(&mut self, folder: &DurableFolder) -> Result<()> {
        for owner in self.add_job_folders(folder, BLOBS).await? {
            let path = state_path::blob_folder(owner);
            for entry in self.list(folder, &path).await? {
                let is_blob = entry.name.parse::<BlobKey>().is_ok();
                let found = is_blob.then_some((FileKind::Blob, owner));
                self.add_entry(folder, &path, found, Some(owner), &entry).await?;
            }
        }
        Ok(())
    }

    /// The jobs that have a folder in `parent`; all else there is added.
    async fn add_job_folders(&mut self, folder: &DurableFolder, parent: &str) -> Result<Vec<JobId>> {
        let path = layout([parent]);
        let mut owners = Vec::new();
        for entry in self.list(folder, &path).await? {
            match JobId::from_name(&entry.name) {
                Some(owner) if entry.kind == EntryKind::Folder => owners.push(owner),
                _ => self.add_other(folder, &path, None, &entry).await?,
            }
        }
        Ok(owners)
    }

    async fn add_results(&mut self, results: &FileSystemJobResultStore) -> Result<()> {
        let folder = results.folder();
        let root = RelativePath::root();
        let mut clean = BTreeSet::new();
        for entry in self.list(folder, &root).await? {
            let mut found = None;
            if let ResultName::Of(job_id, progress) = parse_result_name(&entry.name) {
                found = Some((FileKind::Result, job_id));
                match progress {
                    Progress::Dirty => drop(self.dirty_jobs.insert(job_id)),
                    Progress::Clean => drop(clean.insert(job_id)),
                }
            } else if !results.owns(&entry.name) {
                // In a folder that others may share it is their business.
                continue;
            }
            self.add_entry(folder, &root, found, None, &entry).await?;
        }
        self.dirty_jobs.retain(|job_id| !clean.contains(job_id));
        Ok(())
    }

    /// Adds an entry whose name means `found`; one that means nothing is temporary or foreign.
    async fn add_entry(
        &mut self,
        folder: &DurableFolder,
        parent: &RelativePath,
        found: Option<(FileKind, JobId)>,
        owner: Option<JobId>,
        entry: &Entry,
    ) -> Result<()> {
        match found {
            Some((kind, owner)) if entry.kind == EntryKind::File => {
                self.add_file(folder, parent, kind, Some(owner), entry).await
            }
            _ => self.add_other(folder, parent, owner, entry).await,
        }
    }

    async fn add_other(
        &mut self,
        folder: &DurableFolder,
        parent: &RelativePath,
        owner: Option<JobId>,
        entry: &Entry,
    ) -> Result<()> {
        if entry.kind == EntryKind::File && is_temporary(&entry.name) {
            return self
                .add_file(folder, parent, FileKind::Temporary, owner, entry)
                .await;
        }
        let reason = match entry.kind {
            EntryKind::File => "the name of this file is not one of the layout",
            EntryKind::Folder => "there is no such folder in the layout; it was not entered",
            EntryKind::Other => "neither a file nor a folder, perhaps a symbolic link; it was not followed",
        };
        self.foreign.push(ForeignFile {
            place: place(folder, parent, &entry.name),
            reason: reason.to_owned(),
        });
        Ok(())
    }

    async fn add_file(
        &mut self,
        folder: &DurableFolder,
        parent: &RelativePath,
        kind: FileKind,
        owner: Option<JobId>,
        entry: &Entry,
    ) -> Result<()> {
        // One that was deleted since it was listed is not there.
        if let Some(info) = folder.stat_entry(parent, &entry.name).await? {
            let path = match parent.as_str() {
                "" => entry.name.clone(),
                parent => format!("{parent}/{}", entry.name),
            };
            self.files.push(ObservedFile {
                kind,
                owner,
                path,
                place: place(folder, parent, &entry.name),
                size: info.size,
                last_modified: info.last_modified,
            });
        }
        Ok(())
    }

    /// The entries of a folder. What stands in its place is foreign.
    async fn list(&mut self, folder: &DurableFolder, path: &RelativePath) -> Result<Vec<Entry>> {
        match folder.list(path).await {
            Ok(entries) => Ok(entries.unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.foreign.push(ForeignFile {
                    place: error
                        .subject()
                        .map_or_else(|| folder.display(path), str::to_owned),
                    reason: error.message().to_owned(),
                });
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}

fn place(folder: &DurableFolder, parent: &RelativePath, name: &str) -> String {
    format!("{}/{name}", folder.display(parent))
}
