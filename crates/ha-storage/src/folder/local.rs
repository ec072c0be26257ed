//! What the object store does not do for local files: refusing symbolic links, listing that one odd name does
//! not break, and durable folders and deletions. Everything here blocks and runs through [`blocking`].

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ha_core::error::{Error, ErrorKind};

use super::fault::Fault;
use super::{Entry, EntryKind, FileInfo, FolderBirth};

/// Runs blocking file I/O away from the workers of the runtime. A dropped call goes on in the background.
pub(crate) async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, Fault>
where
    T: Send + 'static,
    E: Into<Fault> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Into::into),
        Err(error) => Err(Fault::Io(io::Error::other(error))),
    }
}

/// Walks from `base` along `segments` and refuses what could lead elsewhere: a base that is gone (nothing may
/// be concluded from a file that is then missing), a symbolic link, a file in place of a folder, a special file
/// at the end. Gives the metadata of the last segment, `None` when it or a folder before it is missing.
pub(crate) fn guard(
    base: &Path,
    segments: &[String],
    last_is_folder: bool,
) -> Result<Option<fs::Metadata>, Fault> {
    let mut metadata = match fs::metadata(base) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => return Err(no_folder(base)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(
                Error::new(ErrorKind::Unavailable, "the storage directory is gone")
                    .at(base.display().to_string())
                    .advise("mount it, or put it back where it was")
                    .not_applied()
                    .into(),
            );
        }
        Err(error) => return Err(error.into()),
    };
    let mut path = base.to_path_buf();
    for (index, segment) in segments.iter().enumerate() {
        path.push(segment);
        metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_last = index + 1 == segments.len();
        if metadata.is_symlink() {
            return Err(corrupt(&path, "is a symbolic link, which is never followed"));
        } else if is_last && !last_is_folder {
            if !metadata.is_file() {
                return Err(corrupt(&path, "is not a regular file"));
            }
        } else if !metadata.is_dir() {
            return Err(no_folder(&path));
        }
    }
    Ok(Some(metadata))
}

fn no_folder(path: &Path) -> Fault {
    corrupt(path, "is not a folder")
}

fn corrupt(path: &Path, reason: &'static str) -> Fault {
    Error::new(ErrorKind::Corrupt, reason)
        .at(path.display().to_string())
        .advise("it was left untouched; move it away if it does not belong to the cluster")
        .not_applied()
        .into()
}

/// The entries of a folder, `None` when it is missing. Names that are not UTF-8 come in lossy form: they are
/// outside our grammar either way.
pub(crate) fn list(path: &Path) -> Result<Option<Vec<Entry>>, Fault> {
    #[cfg(test)]
    crate::test_support::note_listing(path);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_file() => EntryKind::File,
            Ok(kind) if kind.is_dir() => EntryKind::Folder,
            Ok(_) => EntryKind::Other,
            // Removed since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        found.push(Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            kind,
            last_modified: None,
        });
    }
    Ok(Some(found))
}

pub(crate) fn file_info(metadata: &fs::Metadata) -> Result<FileInfo, Fault> {
    let last_modified = metadata.modified()?;
    Ok(FileInfo {
        size: metadata.len(),
        last_modified,
        version: version(metadata),
    })
}

/// Tells one content of a path from the next: a replacement is a new file, so its inode or its time differs.
fn version(metadata: &fs::Metadata) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        format!(
            "{:x}-{:x}.{:x}-{:x}",
            metadata.ino(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.len()
        )
    }
    #[cfg(not(unix))]
    format!("{:?}-{:x}", metadata.modified().ok(), metadata.len())
}

/// What tells a folder from another one that is made later at the same path.
pub(crate) fn folder_birth(metadata: &fs::Metadata) -> FolderBirth {
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let inode = 0;
    FolderBirth {
        inode,
        created: metadata.created().ok(),
    }
}

/// Makes a folder and those above it, durably.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut existing = path;
    while !existing.exists() {
        match existing.parent() {
            Some(parent) => existing = parent,
            None => break,
        }
    }
    fs::create_dir_all(path)?;
    let mut changed = path;
    while changed != existing {
        match changed.parent() {
            Some(parent) => {
                sync_folder(parent)?;
                changed = parent;
            }
            None => break,
        }
    }
    Ok(())
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        File::open(path)?.sync_all()
    }
    #[cfg(not(unix))]
    {
        let _ = (path, File::open);
        Ok(())
    }
}

/// Removes a folder that has nothing in it. Another writer may fill it at any moment, so an occupied or missing
/// folder is no error.
pub(crate) fn remove_empty_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Ok(()) => path.parent().map_or(Ok(()), sync_folder),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The file system path of `segments` below `base`.
pub(crate) fn path_of(base: &Path, segments: &[String]) -> PathBuf {
    let mut path = base.to_path_buf();
    path.extend(segments);
    path
}
