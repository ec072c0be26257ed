use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use ha_core::environment::{Environment, TaskScope};
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::{ClusterId, JobId};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use tokio::sync::oneshot;

use super::{Location, StorageBase, StorageDirectory};
use crate::folder::{Creation, DurableFolder, RelativePath, at_most};
use crate::shared::{Shared, lock};
use crate::state::envelope::{self, MAX_FILE};
use crate::state::state_path;
use crate::state::{ListedState, State, StateFile, StateKind};

/// The HA storage of one cluster: `<storageDir>/<cluster-id>` on a local file system, in a store of objects that
/// several hosts reach, or in memory.
///
/// Files are written to a temporary name, fsynced, put in place without overwriting, and their folder is
/// fsynced: what a call returned for survives a power cut, and nothing half-written is ever visible. Reads
/// verify length, checksum, kind and owner. Every path that comes from outside must be one of the cluster's own
/// layout; symbolic links below the storage directory are never followed, for reading and for deleting.
///
/// Transient faults are tried four times within a second, but not those of a blob's upload. Errors name the file, the system's reason and the
/// remedy. A dropped write may still be applied. Nothing here is fenced: files have names of their own, and what
/// publishes them is (design §8).
pub struct HaStorage {
    cluster_id: ClusterId,
    /// The storage directory, for what does not lie in the cluster's folder.
    base: StorageBase,
    folder: DurableFolder,
    shared: Arc<Shared>,
    scope: TaskScope,
    environment: Environment,
    /// What must live as long as anybody may write.
    guards: Mutex<Vec<Box<dyn Any + Send>>>,
    /// When it was opened for writing, by the store's own clock.
    opened: OnceLock<SystemTime>,
}

impl HaStorage {
    /// Opens the storage for reading and writing; makes the directory when it is missing, and proves that it can
    /// be written.
    ///
    /// `directory` is a path, a `file:` URI, the URI of a store whose feature is built, or `memory:` for a fresh one
    /// that this process alone sees.
    ///
    /// # Errors
    /// `Invalid` for a location that cannot be used; `Denied`, `Unavailable` or `Corrupt` when the directory
    /// cannot be made, read or written, or is none.
    pub async fn open(
        directory: impl Into<StorageDirectory>,
        cluster_id: &ClusterId,
        environment: &Environment,
    ) -> Result<Arc<Self>> {
        let base = StorageBase::open(&directory.into(), true).await?;
        let storage = Self::build(base, cluster_id, environment);
        // A write that is looked at, which proves that the directory can be written.
        let now = storage.store_time().await?;
        storage.opened.get_or_init(|| now);
        Ok(storage)
    }

    /// Opens the storage for reading: makes nothing, writes nothing.
    ///
    /// # Errors
    /// As [`HaStorage::open`], and `NotFound` when the directory is missing.
    pub async fn open_existing(
        directory: impl Into<StorageDirectory>,
        cluster_id: &ClusterId,
        environment: &Environment,
    ) -> Result<Arc<Self>> {
        let base = StorageBase::open(&directory.into(), false).await?;
        Ok(Self::build(base, cluster_id, environment))
    }

    /// Checks how a storage directory is written, without touching it.
    ///
    /// # Errors
    /// `Invalid` for what cannot be a storage directory of this program; a store that is not built is told with
    /// the feature that builds it.
    pub fn check_location(storage_dir: &str) -> Result<()> {
        Location::parse(storage_dir).map(drop)
    }

    /// A fresh storage in the memory of this process. It lives as long as the returned value.
    pub fn in_memory(cluster_id: &ClusterId, environment: &Environment) -> Arc<Self> {
        Self::on_object_store(Arc::new(InMemory::new()), "memory:///", cluster_id, environment)
    }

    /// A storage on any object store with conditional puts, whose requests end with their answers; `uri` is how it is named to people. Two of them on
    /// one object store in one process do not share locks: use one.
    pub fn on_object_store(
        store: Arc<dyn ObjectStore>,
        uri: &str,
        cluster_id: &ClusterId,
        environment: &Environment,
    ) -> Arc<Self> {
        Self::build(StorageBase::on(store, uri), cluster_id, environment)
    }

    fn build(base: StorageBase, cluster_id: &ClusterId, environment: &Environment) -> Arc<Self> {
        let folder = base.folder(&[cluster_id.as_str()], environment);
        Arc::new(Self {
            cluster_id: cluster_id.clone(),
            shared: base.shared_or(&folder, &Arc::default()),
            base,
            folder,
            scope: environment.task_scope(),
            environment: environment.clone(),
            guards: Mutex::default(),
            opened: OnceLock::new(),
        })
    }

    /// Keeps `guard` until the last store and the last write under way have let go of this storage: the lock
    /// by which one process has it for itself.
    pub fn keep_until_dropped(&self, guard: impl Any + Send) {
        lock(&self.guards).push(Box::new(guard));
    }

    /// The cluster.
    pub fn cluster_id(&self) -> &ClusterId {
        &self.cluster_id
    }

    /// The storage directory, in one spelling whatever the configuration's was.
    pub fn uri(&self) -> &str {
        &self.base.uri
    }

    /// The cluster's folder, where the storage is local. It may not exist yet.
    pub fn local_folder(&self) -> Option<PathBuf> {
        self.folder.local_path()
    }

    /// When it was opened for writing, by the store's own clock; asked now where it was not opened so.
    pub(crate) async fn opened(&self) -> Result<SystemTime> {
        match self.opened.get() {
            Some(opened) => Ok(*opened),
            None => self.store_time().await,
        }
    }

    /// How a path below the cluster's folder is named to people, whether or not it is one of the layout.
    pub fn display(&self, path: &str) -> String {
        format!("{}/{path}", self.folder.display(&RelativePath::root()))
    }

    /// Writes a new state file `<name>-<uuid>` durably into the folder of its kind. `name` is the job id for a
    /// job graph, the 19-digit id for a checkpoint.
    ///
    /// # Errors
    /// `Invalid` for another name or too much content; `Denied`, `Unavailable`: not applied, unless the file
    /// could not be looked up afterwards (effect `Unknown`; it is then a file without a pointer at most).
    pub async fn put_state(
        &self,
        kind: StateKind,
        owner: JobId,
        name: &str,
        attributes: BTreeMap<String, String>,
        payload: Bytes,
    ) -> Result<StateFile> {
        let path = state_path::new_state(kind, owner, name, self.environment.ids.uuid())?;
        let content = envelope::encode(kind, owner, attributes, &payload)?;
        let file = StateFile {
            kind,
            path: path.as_str().to_owned(),
            size: content.len() as u64,
            crc32c: crc32c::crc32c(&content),
        };
        match self.folder.create(&path, content).await? {
            Creation::Created => Ok(file),
            Creation::Exists => Err(Error::new(
                ErrorKind::AlreadyExists,
                "another file has this unique name",
            )
            .at(self.folder.display(&path))
            .not_applied()),
        }
    }

    /// Reads the file that a pointer names, and verifies path, size, checksum, kind and owner.
    ///
    /// # Errors
    /// `NotFound` when the file is missing; `Corrupt` with the reason when it is not what the pointer says, or
    /// when the pointer leads elsewhere; `Denied`, `Unavailable`.
    pub async fn get_state(&self, file: &StateFile) -> Result<State> {
        let (path, owner) = self.resolve(file.kind, &file.path)?;
        let expected = |size: u64| {
            if size == file.size && size <= MAX_FILE {
                return Ok(());
            }
            let what = match size {
                0 => "is empty",
                _ if size < file.size => "is cut off",
                _ => "has bytes appended",
            };
            Err(corrupt(format!(
                "the file {what}: {size} bytes, its pointer says {}",
                file.size
            )))
        };
        let Some(content) = self.folder.read(&path, expected).await? else {
            return Err(
                Error::new(ErrorKind::NotFound, "the file that a pointer names is missing")
                    .at(self.folder.display(&path))
                    .advise("put it back from a copy; the pointer was left as it is")
                    .not_applied(),
            );
        };
        let checksum = crc32c::crc32c(&content);
        if checksum != file.crc32c {
            // The header often knows better what happened.
            let reason = envelope::decode(&content, file.kind, owner)
                .err()
                .unwrap_or_else(|| {
                    format!(
                        "its checksum is {checksum:08x}, its pointer says {:08x}",
                        file.crc32c
                    )
                });
            return Err(
                corrupt(format!("the file is not the one that was written: {reason}"))
                    .at(self.folder.display(&path)),
            );
        }
        self.decode(&path, &content, file.kind, owner)
    }

    /// Reads a file that a listing showed, and verifies it by its own header; `None` when it went away.
    ///
    /// # Errors
    /// `Corrupt` with the reason when it is torn, altered or foreign; `Denied`, `Unavailable`.
    pub async fn read_listed(&self, listed: &ListedState) -> Result<Option<State>> {
        let (path, owner) = self.resolve(listed.kind, &listed.path)?;
        self.read_state(&path, listed.kind, owner).await
    }

    /// Reads a file-backed state file, which no pointer describes; `None` when it is missing.
    pub(crate) async fn read_state(
        &self,
        path: &RelativePath,
        kind: StateKind,
        owner: JobId,
    ) -> Result<Option<State>> {
        let Some(content) = self.folder.read(path, at_most(MAX_FILE)).await? else {
            return Ok(None);
        };
        self.decode(path, &content, kind, owner).map(Some)
    }

    /// Writes a file-backed state file durably, instead of the one that is there. The caller holds its lock.
    pub(crate) async fn replace_state(
        &self,
        path: &RelativePath,
        kind: StateKind,
        owner: JobId,
        attributes: BTreeMap<String, String>,
        payload: &[u8],
    ) -> Result<()> {
        let content = envelope::encode(kind, owner, attributes, payload)?;
        self.folder.replace(path, content).await
    }

    /// Writes a file-backed state file durably, unless there is one.
    pub(crate) async fn create_state(
        &self,
        path: &RelativePath,
        kind: StateKind,
        owner: JobId,
        attributes: BTreeMap<String, String>,
        payload: &[u8],
    ) -> Result<Creation> {
        let content = envelope::encode(kind, owner, attributes, payload)?;
        self.folder.create(path, content).await
    }

    fn decode(&self, path: &RelativePath, content: &Bytes, kind: StateKind, owner: JobId) -> Result<State> {
        envelope::decode(content, kind, owner).map_err(|reason| corrupt(reason).at(self.folder.display(path)))
    }

    /// Deletes a state file durably, after its pointer. `path` is relative to the cluster's folder. `false`: it
    /// was not there.
    ///
    /// # Errors
    /// `Corrupt` for a path that is not one of a state file of this cluster: nothing is touched. `Denied`,
    /// `Unavailable`: repeat it later.
    pub async fn delete(&self, path: &str) -> Result<bool> {
        let path = StateKind::ALL
            .into_iter()
            .find_map(|kind| state_path::parse(kind, path).ok())
            .map(|(path, _)| path)
            .ok_or_else(|| {
                self.foreign_path(path, format!("the path {path:?} is not one of a state file"))
            })?;
        self.folder.delete(&path).await
    }

    fn resolve(&self, kind: StateKind, path: &str) -> Result<(RelativePath, JobId)> {
        state_path::parse(kind, path).map_err(|error| self.foreign_path(path, error.message().to_owned()))
    }

    fn foreign_path(&self, path: &str, reason: String) -> Error {
        corrupt(reason)
            .at(self.display(path))
            .advise("it was left untouched; correct or remove what names this path")
    }

    pub(crate) fn folder(&self) -> &DurableFolder {
        &self.folder
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What is injected.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The storage directory.
    pub(crate) fn base(&self) -> &StorageBase {
        &self.base
    }

    /// Runs `work` to its end even when the caller stops waiting: it holds a lock whose next holder must not
    /// meet its late write.
    pub(crate) async fn to_the_end<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.scope.spawn(name, async move {
            // Nobody may be waiting any more.
            let _ = answer.send(work.await);
        });
        answered.await.unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Internal,
                format!("the task {name} did not answer"),
            ))
        })
    }
}

/// Data that is not what it should be; it was left as it is.
pub(crate) fn corrupt(reason: String) -> Error {
    Error::new(ErrorKind::Corrupt, reason).not_applied()
}
