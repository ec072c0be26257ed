use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::error::{Error, ErrorKind, Result};
use object_store::{GetOptions, ObjectStore, ObjectStoreExt as _};

use super::fault::Fault;
use super::retry::Retry;
use super::{ConditionalPuts, Entry, FileInfo, FolderBirth, LocalBase, Place, RelativePath, local};

/// One folder in an object store. All reads, writes and deletions of the storage go through it: names are
/// checked, symbolic links refused, faults retried, errors explained. Cloning is cheap.
///
/// A dropped write may still be applied.
#[derive(Clone)]
pub(crate) struct DurableFolder {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Segments from the root of the store to this folder.
    pub(super) prefix: Arc<[String]>,
    place: Place,
    /// How the folder is named to people: a path, or a URI without a trailing `/`.
    display: Arc<str>,
    environment: Environment,
}

impl DurableFolder {
    /// The folder `prefix` of `store`, which is in `place`; named `display` to people.
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        place: Place,
        prefix: Vec<String>,
        display: &str,
        environment: Environment,
    ) -> Self {
        Self {
            store,
            prefix: prefix.into(),
            place,
            display: display.into(),
            environment,
        }
    }

    /// The directory that it lies in, where it is local.
    pub(super) fn local(&self) -> Option<&LocalBase> {
        match &self.place {
            Place::Local(base) => Some(base),
            Place::Objects(_) | Place::Remote(_) => None,
        }
    }

    /// Whether the store of objects refuses to create what is there; local folders always do.
    pub(super) fn conditional_puts(&self) -> Option<&ConditionalPuts> {
        match &self.place {
            Place::Local(_) => None,
            Place::Objects(puts) | Place::Remote(puts) => Some(puts),
        }
    }

    /// How a path is named to people.
    pub(crate) fn display(&self, path: &RelativePath) -> String {
        if path.as_str().is_empty() {
            self.display.to_string()
        } else {
            format!("{}/{path}", self.display)
        }
    }

    /// The local folder, where it is one.
    pub(crate) fn local_path(&self) -> Option<PathBuf> {
        self.local()
            .map(|LocalBase(base)| local::path_of(base, &self.prefix))
    }

    /// The file system path of a path below, where the folder is local.
    pub(super) fn local_path_of(&self, path: &RelativePath) -> Option<PathBuf> {
        self.local()
            .map(|LocalBase(base)| local::path_of(base, &self.segments(path)))
    }

    /// Whether a request may be applied after its answer was given up.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote(_))
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Reads a file, `None` when it is missing. `check` sees the size before a byte is read.
    ///
    /// # Errors
    /// Those of `check`; `Corrupt` for what is no regular file; all with effect `NotApplied`.
    pub(crate) async fn read(
        &self,
        path: &RelativePath,
        check: impl Fn(u64) -> Result<()> + Sync,
    ) -> Result<Option<Bytes>> {
        self.retrying("read the file", path, || async {
            self.guard(path, false).await?;
            let found = self
                .store
                .get_opts(&self.key(path), GetOptions::default())
                .await?;
            check(found.meta.size).map_err(|error| error.at(self.display(path)))?;
            Ok(found.bytes().await?)
        })
        .await
    }

    /// What the store knows of a file, `None` when it is missing.
    pub(crate) async fn stat(&self, path: &RelativePath) -> Result<Option<FileInfo>> {
        self.retrying("look up the file", path, || async {
            match self.local() {
                Some(_) => match self.guard(path, false).await? {
                    Some(metadata) => local::file_info(&metadata),
                    None => Err(std::io::Error::from(std::io::ErrorKind::NotFound).into()),
                },
                None => {
                    let meta = self.store.head(&self.key(path)).await?;
                    Ok(FileInfo {
                        size: meta.size,
                        last_modified: SystemTime::from(meta.last_modified),
                        version: meta.e_tag.unwrap_or_else(|| meta.last_modified.to_string()),
                    })
                }
            }
        })
        .await
    }

    /// The entries of a folder below, sorted by name; `None` when the folder is missing (where there are
    /// folders: in other stores it is empty then).
    pub(crate) async fn list(&self, folder: &RelativePath) -> Result<Option<Vec<Entry>>> {
        let entries = self
            .retrying("list the folder", folder, || async {
                match self.local() {
                    Some(LocalBase(base)) => {
                        if self.guard(folder, true).await?.is_none() {
                            return Ok(None);
                        }
                        let path = local::path_of(base, &self.segments(folder));
                        local::blocking(move || local::list(&path)).await
                    }
                    None => self.list_objects(folder).await.map(Some),
                }
            })
            .await?
            .flatten();
        Ok(entries.map(|mut entries| {
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            entries
        }))
    }

    /// What tells this folder from another one made later at the same path; `None` when it is missing. Where
    /// there are no folders, nothing can be told but that the store is there.
    pub(crate) async fn birth(&self) -> Result<Option<FolderBirth>> {
        if self.local().is_none() {
            return self.reach_objects().await.map(|()| Some(FolderBirth::default()));
        }
        let root = RelativePath::root();
        self.retrying("look up the folder", &root, || async {
            match self.guard(&root, true).await? {
                Some(metadata) => Ok(local::folder_birth(&metadata)),
                None => Err(std::io::Error::from(std::io::ErrorKind::NotFound).into()),
            }
        })
        .await
    }

    /// Removes a folder below if nothing is in it. Only tidiness: failures are logged.
    pub(crate) async fn remove_if_empty(&self, folder: &RelativePath) {
        let Some(LocalBase(base)) = self.local() else {
            return;
        };
        let path = local::path_of(base, &self.segments(folder));
        let removed = match self.guard(folder, true).await {
            Ok(Some(_)) => local::blocking(move || local::remove_empty_folder(&path)).await,
            Ok(None) => Ok(()),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = removed {
            tracing::debug!(folder = self.display(folder), %fault, "an empty folder stays");
        }
    }

    /// Makes a folder below, durably; does nothing where there are no folders.
    pub(crate) async fn create_folder(&self, folder: &RelativePath) -> Result<()> {
        let Some(LocalBase(base)) = self.local() else {
            return Ok(());
        };
        let path = local::path_of(base, &self.segments(folder));
        let made = match self.guard(folder, true).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => local::blocking(move || local::create_folder(&path)).await,
            Err(fault) => Err(fault),
        };
        made.map_err(|fault| {
            fault
                .into_error("make the folder", &self.display(folder))
                .not_applied()
        })
    }

    pub(super) async fn sync_parent(&self, path: &RelativePath) -> Result<(), Fault> {
        let Some(LocalBase(base)) = self.local() else {
            return Ok(());
        };
        let folder = local::path_of(base, &self.segments(&path.parent()));
        local::blocking(move || local::sync_folder(&folder)).await
    }

    /// Refuses what could lead out of the folder; gives the metadata of what is there.
    pub(super) async fn guard(
        &self,
        path: &RelativePath,
        is_folder: bool,
    ) -> Result<Option<std::fs::Metadata>, Fault> {
        let Some(LocalBase(base)) = self.local() else {
            return Ok(None);
        };
        let base: Box<Path> = base.as_path().into();
        let segments = self.segments(path);
        local::blocking(move || local::guard(&base, &segments, is_folder)).await
    }

    pub(super) fn key(&self, path: &RelativePath) -> object_store::path::Path {
        path.object_path(&self.prefix)
    }

    fn segments(&self, path: &RelativePath) -> Vec<String> {
        self.prefix
            .iter()
            .cloned()
            .chain(path.segments().map(str::to_owned))
            .collect()
    }

    /// Repeats an operation that changes nothing, or may be repeated. `None`: not found.
    pub(super) async fn retrying<T, F>(
        &self,
        verb: &str,
        path: &RelativePath,
        mut attempt: impl FnMut() -> F,
    ) -> Result<Option<T>>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut retry = Retry::new(&self.environment);
        loop {
            match attempt().await {
                Ok(value) => return Ok(Some(value)),
                Err(fault) if fault.is_not_found() => return Ok(None),
                Err(fault) => {
                    if !retry.again(&fault).await {
                        return Err(fault.into_error(verb, &self.display(path)).not_applied());
                    }
                }
            }
        }
    }
}

/// Fails with `Corrupt` when more than `limit` bytes would be read.
pub(crate) fn at_most(limit: u64) -> impl Fn(u64) -> Result<()> + Sync {
    move |size| {
        if size > limit {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("the file has {size} bytes, at most {limit} are expected"),
            )
            .not_applied());
        }
        Ok(())
    }
}
