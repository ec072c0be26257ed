use std::fmt;
use std::io::{self, Read as _};
use std::path::PathBuf;

use ha_flink::Pointer;

use crate::layout::PathMappings;

/// What became of looking for the file that a pointer names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// It is there, and as long as the pointer says; its first bytes.
    There(Vec<u8>),
    /// It is not on a file system of this machine.
    Elsewhere,
    /// It is missing, or not what the pointer says.
    Wrong(WrongFile),
}

/// A file that is missing, or not what its pointer says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongFile {
    /// Where it was looked for.
    pub(crate) path: PathBuf,
    pub(crate) fault: Fault,
}

/// What is wrong with a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Missing,
    /// It has so many bytes instead of so many.
    Size(u64, u64),
    /// It is a folder, a device or a pipe.
    NoFile,
    /// Why it cannot be read.
    Unreadable(String),
}

impl fmt::Display for WrongFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.fault {
            Fault::Missing => write!(f, "it names the file {path}, which is missing"),
            Fault::Size(size, expected) => write!(
                f,
                "it names the file {path}, which has {size} bytes instead of {expected}"
            ),
            Fault::NoFile => write!(f, "it names {path}, which is no file"),
            Fault::Unreadable(error) => write!(f, "it names the file {path}, which cannot be read: {error}"),
        }
    }
}

/// Looks at a file, and reads its first `limit` bytes.
pub(crate) fn look(pointer: &Pointer, mappings: &PathMappings, limit: usize) -> Looked {
    let Some(path) = mappings.local(&pointer.file) else {
        return Looked::Elsewhere;
    };
    let read = || -> io::Result<(u64, bool, Vec<u8>)> {
        // A device or a pipe is not opened: it might never answer.
        let metadata = std::fs::metadata(&path)?;
        let mut bytes = Vec::new();
        if metadata.is_file() {
            std::fs::File::open(&path)?
                .take(limit as u64)
                .read_to_end(&mut bytes)?;
        }
        Ok((metadata.len(), metadata.is_file(), bytes))
    };
    let fault = match read() {
        Ok((size, true, bytes)) if size == pointer.size => return Looked::There(bytes),
        Ok((size, true, _)) => Fault::Size(size, pointer.size),
        Ok((_, false, _)) => Fault::NoFile,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Fault::Missing,
        Err(error) => Fault::Unreadable(error.to_string()),
    };
    Looked::Wrong(WrongFile { path, fault })
}
