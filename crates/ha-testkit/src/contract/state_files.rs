use std::path::{Path, PathBuf};

use super::Entry;

/// What takes the place of a broken file's content: it is neither empty nor any valid content.
pub const TORN: &[u8] = b"{\"format\":1,\"to";

impl Entry {
    /// Whether a file of the HA storage, by its path with `/` between the names, holds this entry.
    pub fn is_in_file(&self, path: &str) -> bool {
        let has = |parts: &[&str]| parts.iter().all(|part| path.contains(part));
        match self {
            Self::JobGraph(job) => has(&["/jobgraphs/", &job.to_string()]),
            Self::Checkpoint(job, id) => has(&["/checkpoints/", &job.to_string(), &id.to_name()]),
            Self::Counter(job) => has(&[&format!("/{job}/counter")]),
            Self::JobResult(job) => has(&["/job-results-store/", &job.to_string()]),
            Self::SchedulingStatus(job) => has(&["/running_job_registry/", &job.to_string()]),
            Self::LeaderInformation(_) => false,
            Self::Blob(job, key) => has(&["/blobs/", &job.to_string(), &key.to_string()]),
        }
    }
}

/// Overwrites the one file below `storage_dir` that holds an entry with [`TORN`].
///
/// # Panics
/// When not exactly one file holds it.
pub fn break_file(storage_dir: &Path, entry: &Entry) {
    let holders: Vec<PathBuf> = files_below(storage_dir)
        .into_iter()
        .filter(|path| entry.is_in_file(&path.to_string_lossy()))
        .collect();
    assert_eq!(holders.len(), 1, "{entry:?} is in {holders:?}");
    std::fs::write(&holders[0], TORN).expect("the file can be written");
}

/// All files below a folder, in the order of their paths. What others delete meanwhile is not there.
///
/// # Panics
/// When the folder cannot be read.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    assert!(folder.is_dir(), "{} is no folder", folder.display());
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in unless_gone(std::fs::read_dir(&folder)).into_iter().flatten() {
            let kind = unless_gone(entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))));
            match kind {
                Some((kind, path)) if kind.is_dir() => folders.push(path),
                Some((_, path)) => files.push(path),
                None => {}
            }
        }
    }
    files.sort();
    files
}

fn unless_gone<T>(read: std::io::Result<T>) -> Option<T> {
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        read => Some(read.expect("the folder can be read")),
    }
}
