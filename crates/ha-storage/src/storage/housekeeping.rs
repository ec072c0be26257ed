//! Identity, listings, and temporary files.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::{BlobKey, JobId};

use super::ha_storage::corrupt;
use super::{ClusterIdentity, HaStorage};
use crate::folder::{Creation, EntryKind, RelativePath, at_most, is_temporary};
use crate::state::state_path::{self, BLOBS, IDENTITY, JOB_GRAPHS, JOBS, REGISTRY, layout};
use crate::state::{ListedState, StateKind};

/// Longest identity.json, in bytes.
const MAX_IDENTITY: u64 = 64 * 1024;
/// Begins the names of files that are written only to be looked at.
pub(crate) const PROBE_PREFIX: &str = ".upload-probe-";

impl HaStorage {
    /// The identity of the cluster; makes it when there is none. Of several processes that do so at once, one
    /// makes it and all read the same.
    ///
    /// # Errors
    /// `Corrupt` when identity.json is unreadable or newer: it is left as it is.
    pub async fn identity(&self) -> Result<ClusterIdentity> {
        self.identity_of_tree(None).await
    }

    /// The same for a cluster whose pointers are in the znode `tree`, which is written down when the identity is made.
    /// Whether it is the one that was written down is for the caller to compare.
    ///
    /// # Errors
    /// As [`HaStorage::identity`].
    pub async fn identity_of_tree(&self, tree: Option<&str>) -> Result<ClusterIdentity> {
        if let Some(identity) = self.read_identity().await? {
            return Ok(identity);
        }
        self.make_identity(tree, None).await
    }

    async fn make_identity(&self, tree: Option<&str>, importing: Option<&str>) -> Result<ClusterIdentity> {
        let identity = ClusterIdentity {
            format: ClusterIdentity::FORMAT,
            cluster_uuid: self.environment().ids.uuid(),
            storage_dir: self.uri().to_owned(),
            tree: tree.map(str::to_owned),
            created_by: format!(
                "ha-services {}, process {}",
                env!("CARGO_PKG_VERSION"),
                std::process::id()
            ),
            importing: importing.map(str::to_owned),
        };
        self.create_identity(&identity).await?;
        // Whoever made it: on a store without conditional puts a later one may stand in its place.
        self.read_identity().await?.ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, "it was made and removed by others")
                .at(self.display(IDENTITY))
                .not_applied()
        })
    }

    async fn create_identity(&self, identity: &ClusterIdentity) -> Result<Creation> {
        let content = encode_identity(identity)?;
        self.folder().create(&layout([IDENTITY]), content).await
    }

    /// Makes the identity of a cluster that is imported from `archive` into the folder, under a new uuid; goes on with the
    /// import of that archive which was cut off.
    ///
    /// # Errors
    /// `Conflict` when the folder holds anything else; nothing was changed. `Denied`, `Unavailable`, `Corrupt`.
    pub async fn begin_import(&self, tree: Option<&str>, archive: &str) -> Result<ClusterIdentity> {
        if !self.expect_importable(tree, archive).await? {
            self.make_identity(tree, Some(archive)).await?;
        }
        // Whoever made it.
        match self.read_identity().await? {
            Some(identity) if is_import_of(&identity, tree, archive) => Ok(identity),
            _ => Err(self.occupied("another process makes a cluster in it")),
        }
    }

    /// That the folder can take the import of `archive`: it is empty, or the import was cut off, which is `true`. Writes
    /// nothing.
    ///
    /// # Errors
    /// `Conflict` when it holds anything else. `Denied`, `Unavailable`, `Corrupt`.
    pub async fn expect_importable(&self, tree: Option<&str>, archive: &str) -> Result<bool> {
        if let Some(identity) = self.read_identity().await? {
            identity.expect_whole(Some(archive), self.display(IDENTITY))?;
            return match is_import_of(&identity, tree, archive) {
                true => Ok(true),
                false => Err(self.occupied(&format!("it belongs to the cluster {}", identity.cluster_uuid))),
            };
        }
        let entries = self
            .folder()
            .list(&RelativePath::root())
            .await?
            .unwrap_or_default();
        // What a process left that was killed while it made the folder is swept later.
        match entries.iter().find(|entry| !is_temporary(&entry.name)) {
            None => Ok(false),
            Some(entry) => Err(self.occupied(&format!("{:?} is in it", entry.name))),
        }
    }

    fn occupied(&self, reason: &str) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!("the folder of the cluster is not empty: {reason}"),
        )
        .at(self.folder().display(&RelativePath::root()))
        .advise("import into another high-availability.storageDir or cluster-id")
        .not_applied()
    }

    /// The import is whole: its mark is taken out of the identity. For the one who has the cluster for himself.
    ///
    /// # Errors
    /// `NotFound` when there is no identity; `Denied`, `Unavailable`: repeat the import.
    pub async fn finish_import(&self) -> Result<()> {
        let Some(identity) = self.read_identity().await? else {
            return Err(Error::new(ErrorKind::NotFound, "the identity was removed")
                .at(self.display(IDENTITY))
                .not_applied());
        };
        let whole = ClusterIdentity {
            importing: None,
            ..identity
        };
        let content = encode_identity(&whole)?;
        self.folder().replace(&layout([IDENTITY]), content).await
    }

    /// Deletes identity.json, so that nobody leads with what is left. Idempotent.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn delete_identity(&self) -> Result<()> {
        let path = layout([IDENTITY]);
        let deleting = self.folder().delete(&path);
        let step = steps::REMOVE_CLUSTER_IDENTITY;
        self.environment().step(step, deleting).await.map(drop)
    }

    /// Puts `identity` back after [`HaStorage::delete_identity`], unless there is one.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn restore_identity(&self, identity: &ClusterIdentity) -> Result<()> {
        self.create_identity(identity).await.map(drop)
    }

    /// The identity of the cluster, `None` when there is none yet. Writes nothing.
    ///
    /// # Errors
    /// As [`HaStorage::identity`].
    pub async fn read_identity(&self) -> Result<Option<ClusterIdentity>> {
        let path = layout([IDENTITY]);
        let Some(content) = self.folder().read(&path, at_most(MAX_IDENTITY)).await? else {
            return Ok(None);
        };
        parse_identity(&content)
            .map(Some)
            .map_err(|reason| corrupt(reason).at(self.display(IDENTITY)))
    }

    /// Whether there is any job graph or checkpoint file.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn has_state_files(&self) -> Result<bool> {
        Ok(!self.list_states(StateKind::JobGraph, None).await?.is_empty()
            || !self.list_states(StateKind::Checkpoint, None).await?.is_empty())
    }

    /// The state files of a kind, of one job or of all, sorted by path. Foreign and temporary names are left out.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`, `Corrupt` where something else stands in the place of a folder.
    pub async fn list_states(&self, kind: StateKind, owner: Option<JobId>) -> Result<Vec<ListedState>> {
        let folders = match (kind, owner) {
            (StateKind::JobGraph | StateKind::RunningJob, _) => {
                vec![state_path::folder_of(kind, JobId::from_bytes([0; 16]))]
            }
            (_, Some(owner)) => vec![state_path::folder_of(kind, owner)],
            (_, None) => self
                .job_folders(JOBS)
                .await?
                .into_iter()
                .map(|owner| state_path::folder_of(kind, owner))
                .collect(),
        };
        let mut states = Vec::new();
        for folder in folders {
            for path in self.files(&folder).await? {
                let Ok((path, its_owner)) = state_path::parse(kind, path.as_str()) else {
                    continue;
                };
                if owner.is_some_and(|owner| owner != its_owner) {
                    continue;
                }
                // A file that was deleted since it was listed is not there.
                if let Some(info) = self.folder().stat(&path).await? {
                    states.push(ListedState {
                        kind,
                        owner: its_owner,
                        path: path.as_str().to_owned(),
                        size: info.size,
                        last_modified: info.last_modified,
                    });
                }
            }
        }
        Ok(states)
    }

    /// The files of a folder whose names are in the grammar; none when it is missing.
    pub(crate) async fn files(&self, folder: &RelativePath) -> Result<Vec<RelativePath>> {
        let entries = self.folder().list(folder).await?.unwrap_or_default();
        Ok(entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::File && !is_temporary(&entry.name))
            .filter_map(|entry| folder.child(&entry.name))
            .collect())
    }

    /// The jobs that have a folder in `parent`.
    pub(super) async fn job_folders(&self, parent: &str) -> Result<Vec<JobId>> {
        let entries = self.folder().list(&layout([parent])).await?.unwrap_or_default();
        Ok(entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::Folder)
            .filter_map(|entry| JobId::from_name(&entry.name))
            .collect())
    }

    /// The time of the store's own clock, by which files are dated: that of a marker file just written.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn store_time(&self) -> Result<SystemTime> {
        let name = format!("{PROBE_PREFIX}{}", self.environment().ids.uuid());
        let marker = layout([&name]);
        let info = self.folder().try_out(&marker).await?;
        info.map(|info| info.last_modified).ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, "a file just written is not there")
                .at(self.folder().display(&marker))
                .not_applied()
        })
    }

    /// Deletes what writes of ended processes left under temporary names: what was older than `age` when this
    /// storage was opened, by the store's own clock. `age` must be longer than any write takes. Gives how many
    /// were deleted.
    ///
    /// # Errors
    /// The first failure; what was deleted before stays deleted.
    pub async fn sweep_temporary_files(&self, age: Duration) -> Result<usize> {
        let now = self.opened().await?;
        self.sweep(Some(now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH)))
            .await
    }

    async fn sweep(&self, until: Option<SystemTime>) -> Result<usize> {
        let mut swept = 0;
        for folder in self.all_folders().await? {
            swept += self.folder().sweep(&folder, until).await?;
        }
        Ok(swept)
    }

    /// Every folder of the layout that files are written into.
    pub(super) async fn all_folders(&self) -> Result<Vec<RelativePath>> {
        let mut folders = vec![
            RelativePath::root(),
            layout([JOB_GRAPHS]),
            layout([JOBS]),
            layout([REGISTRY]),
        ];
        for owner in self.job_folders(JOBS).await? {
            folders.push(state_path::job_folder(owner));
            folders.push(state_path::checkpoint_folder(owner));
        }
        for owner in self.job_folders(BLOBS).await? {
            folders.push(state_path::blob_folder(owner));
        }
        Ok(folders)
    }

    /// The blobs of a job.
    pub(super) async fn blob_files(&self, owner: JobId) -> Result<Vec<RelativePath>> {
        let mut files = self.files(&state_path::blob_folder(owner)).await?;
        files.retain(|path| path.file_name().parse::<BlobKey>().is_ok());
        Ok(files)
    }

    /// Deletes the blobs of a job, and the folder if it is empty then. `false`: there was none.
    pub(crate) async fn delete_blobs(&self, owner: JobId) -> Result<bool> {
        let mut any = false;
        for path in self.blob_files(owner).await? {
            let deleting = self.folder().delete(&path);
            any |= self.environment().step(steps::REMOVE_BLOB, deleting).await?;
        }
        self.folder()
            .remove_if_empty(&state_path::blob_folder(owner))
            .await;
        Ok(any)
    }

    /// The jobs that have a folder of blobs.
    pub(crate) async fn jobs_with_blobs(&self) -> Result<Vec<JobId>> {
        self.job_folders(BLOBS).await
    }

    /// Deletes the blobs of all jobs.
    pub(crate) async fn delete_all_blobs(&self) -> Result<()> {
        for owner in self.job_folders(BLOBS).await? {
            self.delete_blobs(owner).await?;
        }
        self.folder().remove_if_empty(&layout([BLOBS])).await;
        Ok(())
    }

    /// Removes the folders of a job that are empty after its files are gone.
    pub async fn tidy_job(&self, owner: JobId) {
        self.folder()
            .remove_if_empty(&state_path::checkpoint_folder(owner))
            .await;
        self.folder()
            .remove_if_empty(&state_path::job_folder(owner))
            .await;
    }
}

fn is_import_of(identity: &ClusterIdentity, tree: Option<&str>, archive: &str) -> bool {
    identity.importing.as_deref() == Some(archive) && identity.tree.as_deref() == tree
}

fn encode_identity(identity: &ClusterIdentity) -> Result<Bytes> {
    serde_json::to_vec(identity)
        .map(Bytes::from)
        .map_err(|error| Error::new(ErrorKind::Internal, "the identity cannot be written").caused_by(error))
}

fn parse_identity(content: &[u8]) -> Result<ClusterIdentity, String> {
    let value: serde_json::Value =
        serde_json::from_slice(content).map_err(|error| format!("it is no JSON: {error}"))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format <= u64::from(ClusterIdentity::FORMAT) => {}
        Some(format) => return Err(format!("it has the newer format {format}")),
        None => return Err("it names no format".to_owned()),
    }
    serde_json::from_value(value).map_err(|error| format!("it is incomplete: {error}"))
}
