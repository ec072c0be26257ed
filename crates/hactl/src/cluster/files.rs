use std::fs::Metadata;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ha_core::health::BrokenEntry;

/// The deepest folder that is walked: ours has 3 levels.
const MAX_DEPTH: usize = 32;

/// A file or folder as it was found. Symbolic links are not followed.
#[derive(Clone, Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    /// In bytes; zero for a folder.
    pub(crate) size: u64,
    /// In milliseconds since 1970.
    pub(crate) modified: u64,
    /// Its beginning.
    pub(crate) data: Vec<u8>,
}

/// A folder and everything below it, sorted by path, with the first `limit` bytes of every file; nothing when the
/// folder is missing. What cannot be read becomes a broken entry.
pub(crate) fn walk(folder: &Path, limit: u64, broken: &mut Vec<BrokenEntry>) -> Vec<FoundFile> {
    let mut found = Vec::new();
    visit(folder, limit, MAX_DEPTH, &mut found, broken);
    found
}

fn visit(path: &Path, limit: u64, depth: usize, found: &mut Vec<FoundFile>, broken: &mut Vec<BrokenEntry>) {
    match read(path, limit) {
        Ok(file) => {
            let is_folder = file.is_folder;
            found.push(file);
            if is_folder && depth > 0 {
                match children(path) {
                    Ok(children) => {
                        for child in children {
                            visit(&child, limit, depth - 1, found, broken);
                        }
                    }
                    Err(error) => broken.push(unreadable(path, &error.to_string())),
                }
            }
        }
        // It went away in between, or never was.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => broken.push(unreadable(path, &error.to_string())),
    }
}

fn read(path: &Path, limit: u64) -> io::Result<FoundFile> {
    let metadata = std::fs::symlink_metadata(path)?;
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(io::Error::other(
            "it is neither a file nor a folder; it was not followed",
        ));
    }
    let mut data = Vec::new();
    if metadata.is_file() {
        std::fs::File::open(path)?.take(limit).read_to_end(&mut data)?;
    }
    Ok(FoundFile {
        path: path.to_owned(),
        is_folder: metadata.is_dir(),
        size: if metadata.is_file() { metadata.len() } else { 0 },
        modified: modified(&metadata),
        data,
    })
}

fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    children.sort();
    Ok(children)
}

fn modified(metadata: &Metadata) -> u64 {
    metadata.modified().map(millis).unwrap_or(0)
}

/// Milliseconds since 1970; zero for a time before.
pub(crate) fn millis(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |elapsed| {
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    })
}

fn unreadable(path: &Path, reason: &str) -> BrokenEntry {
    BrokenEntry {
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        path: path.display().to_string(),
        reason: reason.to_owned(),
        candidates: Vec::new(),
    }
}
