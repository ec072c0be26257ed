use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::environment::Environment;
use ha_core::error::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use super::Location;
use crate::folder::{DurableFolder, Fault, LocalBase, local};
use crate::shared::Shared;

/// A storage directory, in which folders are used.
#[derive(Clone)]
pub(crate) struct StorageBase {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) local: Option<LocalBase>,
    pub(super) uri: String,
}

impl StorageBase {
    /// Opens the directory; makes it when `create` says so.
    pub(crate) async fn open(location: Location, create: bool) -> Result<Self> {
        let path = match location {
            Location::Memory => return Ok(Self::on(Arc::new(InMemory::new()), "memory:///")),
            Location::Local(path) => path,
        };
        let wanted = path.clone();
        let opened = local::blocking(move || -> Result<_, Fault> {
            if create {
                local::create_folder(&wanted)?;
            }
            let canonical = std::fs::canonicalize(&wanted)?;
            // Proves that it is a directory that can be read.
            std::fs::read_dir(&canonical)?;
            let store = LocalFileSystem::new_with_prefix(&canonical)?.with_fsync(true);
            Ok((canonical, store))
        });
        let (canonical, store): (PathBuf, _) = opened.await.map_err(|fault| explain(fault, &path))?;
        Ok(Self {
            store: Arc::new(store),
            uri: format!("file://{}", canonical.display()),
            local: Some(LocalBase(canonical)),
        })
    }

    /// Any object store; `uri` is how it is named to people.
    pub(crate) fn on(store: Arc<dyn ObjectStore>, uri: &str) -> Self {
        Self {
            store,
            local: None,
            uri: uri.to_owned(),
        }
    }

    /// A folder of it.
    pub(crate) fn folder(&self, prefix: &[&str], environment: &Environment) -> DurableFolder {
        DurableFolder::new(
            Arc::clone(&self.store),
            self.local.clone(),
            &self.uri,
            prefix.iter().map(|&segment| segment.to_owned()).collect(),
            environment.clone(),
        )
    }

    /// What all handles on that folder in this process share. Only local folders are known to be the same;
    /// others share what the handle of the cluster does.
    pub(crate) fn shared_or(&self, folder: &DurableFolder, other: &Arc<Shared>) -> Arc<Shared> {
        folder
            .local_path()
            .map_or_else(|| Arc::clone(other), |path| Shared::of_folder(&path))
    }
}

fn explain(fault: Fault, path: &Path) -> Error {
    if fault.is_not_found() {
        return Error::new(ErrorKind::NotFound, "the storage directory is missing")
            .at(path.display().to_string())
            .advise("check high-availability.storageDir, and that it is mounted")
            .not_applied();
    }
    // What cannot be made a directory because something is there: a file, or a link to what is gone.
    if let Fault::Io(error) = &fault
        && matches!(
            error.kind(),
            IoErrorKind::AlreadyExists | IoErrorKind::NotADirectory
        )
    {
        return Error::invalid("the storage directory, or a part of its path, is not a directory")
            .at(path.display().to_string())
            .advise("correct high-availability.storageDir, or move away what is there");
    }
    fault
        .into_error("open the storage directory", &path.display().to_string())
        .not_applied()
}
