use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::error::{Error, ErrorKind, Result};

/// How long the lock is tried for: a process that is just ending has it a moment longer.
const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(50);

/// The lock of the operating system on the cluster's folder, by which one process has it for itself. It ends with
/// this value, and with the process however that ends.
///
/// The folder itself is locked, so that no file of ours lies in it that is none of the layout.
#[derive(Debug)]
pub(super) struct ProcessLock {
    _folder: File,
}

enum Attempt {
    Locked(ProcessLock),
    Held,
    /// The folder was removed and made again between opening and locking it.
    Replaced,
}

impl ProcessLock {
    /// Locks a folder, which is made when it is missing.
    ///
    /// # Errors
    /// `Conflict` when another process has it; `Denied` or `Unavailable` when it cannot be made or locked.
    pub(super) async fn acquire(folder: PathBuf, environment: &Environment) -> Result<Self> {
        let clock = &environment.clock;
        let give_up = clock.now() + PATIENCE;
        loop {
            let wanted = folder.clone();
            let attempt = tokio::task::spawn_blocking(move || attempt(&wanted)).await;
            let attempt = attempt
                .map_err(io::Error::other)
                .and_then(|attempt| attempt)
                .map_err(|error| explain(error, &folder))?;
            match attempt {
                Attempt::Locked(lock) => return Ok(lock),
                Attempt::Held if clock.now() >= give_up => return Err(held(&folder)),
                Attempt::Held => clock.sleep(POLL).await,
                Attempt::Replaced => {}
            }
        }
    }
}

fn attempt(folder: &Path) -> io::Result<Attempt> {
    make_durably(folder)?;
    let opened = File::open(folder)?;
    match opened.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Attempt::Held),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    match std::fs::metadata(folder) {
        Ok(present) if is_same(&opened.metadata()?, &present) => {
            Ok(Attempt::Locked(ProcessLock { _folder: opened }))
        }
        Ok(_) => Ok(Attempt::Replaced),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Attempt::Replaced),
        Err(error) => Err(error),
    }
}

/// Makes a folder in a directory that is there, and lets the directory know it for good: what is stored in the
/// folder is durable only if the folder is.
fn make_durably(folder: &Path) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    }
    match folder.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn is_same(left: &std::fs::Metadata, right: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (left.dev(), left.ino()) == (right.dev(), right.ino())
}

#[cfg(not(unix))]
fn is_same(_left: &std::fs::Metadata, _right: &std::fs::Metadata) -> bool {
    // A folder that is open cannot be removed there.
    true
}

fn held(folder: &Path) -> Error {
    Error::new(
        ErrorKind::Conflict,
        "another process uses this cluster's folder, and only one may",
    )
    .at(folder.display().to_string())
    .advise("stop the other process, or use another high-availability.cluster-id")
    .not_applied()
}

fn explain(error: io::Error, folder: &Path) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("the cluster's folder cannot be locked: {error}"))
        .at(folder.display().to_string())
        .advise("check the access rights of high-availability.storageDir, and that it is a local file system")
        .not_applied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_is_locked_once_and_again_after_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("cluster");
        let environment = Environment::system();
        let lock = ProcessLock::acquire(folder.clone(), &environment).await.unwrap();
        let error = ProcessLock::acquire(folder.clone(), &environment)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.subject(), folder.to_str());
        drop(lock);
        ProcessLock::acquire(folder, &environment).await.unwrap();
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = ProcessLock::acquire(file.join("cluster"), &Environment::system())
            .await
            .unwrap_err();
        assert_eq!(error.subject(), file.join("cluster").to_str());
        assert_eq!(std::fs::read(&file).unwrap(), b"");
    }
}
