use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::configuration::StorageUri;
use ha_core::environment::Environment;
use ha_core::error::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use super::{Location, StorageDirectory};
use crate::folder::{ConditionalPuts, DurableFolder, Fault, LocalBase, Place, RelativePath, local};
use crate::remote;
use crate::shared::Shared;

/// A storage directory, in which folders are used.
#[derive(Clone)]
pub(crate) struct StorageBase {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) local: Option<LocalBase>,
    pub(super) uri: String,
    /// Folders from the root of the store to the directory.
    prefix: Vec<String>,
    /// Two of them with the same URI are the same.
    is_remote: bool,
    conditional_puts: ConditionalPuts,
}

impl StorageBase {
    /// Opens the directory; makes it when `create` says so, where there are directories.
    pub(crate) async fn open(directory: &StorageDirectory, create: bool) -> Result<Self> {
        match Location::parse(directory.text())? {
            Location::Memory => Ok(Self::on(Arc::new(InMemory::new()), "memory:///")),
            Location::Local(path) => Self::open_local(path, create).await,
            Location::Remote(uri) => Self::open_remote(&uri, directory),
        }
    }

    async fn open_local(path: PathBuf, create: bool) -> Result<Self> {
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
        let uri = format!("file://{}", canonical.display());
        Ok(Self {
            local: Some(LocalBase(canonical)),
            ..Self::on(Arc::new(store), &uri)
        })
    }

    fn open_remote(uri: &str, directory: &StorageDirectory) -> Result<Self> {
        let StorageUri::Remote(place) = StorageUri::parse(uri)? else {
            return Err(Error::new(ErrorKind::Internal, "no URI of a remote store").at(uri));
        };
        Ok(Self {
            prefix: place.segments().map(str::to_owned).collect(),
            is_remote: true,
            ..Self::on(remote::open(place, directory.configuration())?, uri)
        })
    }

    /// Any object store; `uri` is how it is named to people.
    pub(crate) fn on(store: Arc<dyn ObjectStore>, uri: &str) -> Self {
        Self {
            store,
            local: None,
            uri: uri.to_owned(),
            prefix: Vec::new(),
            is_remote: false,
            conditional_puts: ConditionalPuts::default(),
        }
    }

    /// A folder of it.
    pub(crate) fn folder(&self, path: &[&str], environment: &Environment) -> DurableFolder {
        let path = path.iter().map(|&segment| segment.to_owned());
        let (place, display) = match &self.local {
            Some(LocalBase(base)) => {
                let folder = local::path_of(base, &path.clone().collect::<Vec<_>>());
                (
                    Place::Local(LocalBase(base.clone())),
                    folder.display().to_string(),
                )
            }
            None => {
                let display = path
                    .clone()
                    .fold(self.uri.trim_end_matches('/').to_owned(), |display, segment| {
                        format!("{display}/{segment}")
                    });
                let puts = self.conditional_puts.clone();
                match self.is_remote {
                    true => (Place::Remote(puts), display),
                    false => (Place::Objects(puts), display),
                }
            }
        };
        DurableFolder::new(
            Arc::clone(&self.store),
            place,
            self.prefix.iter().cloned().chain(path).collect(),
            &display,
            environment.clone(),
        )
    }

    /// What all handles on that folder in this process share. Local and remote folders are known to be the same by
    /// their names; others share what the handle of the cluster does.
    pub(crate) fn shared_or(&self, folder: &DurableFolder, other: &Arc<Shared>) -> Arc<Shared> {
        if self.local.is_none() && !self.is_remote {
            return Arc::clone(other);
        }
        Shared::of_folder(&folder.display(&RelativePath::root()))
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
