use std::io::{self, Read as _};

use ha_flink::Pointer;

use crate::layout::PathMappings;

/// What became of looking for the file that a pointer names.
pub(super) enum Looked {
    /// It is there, and as long as the pointer says; its first bytes.
    There(Vec<u8>),
    /// It is not on a file system of this machine.
    Elsewhere,
    /// It is missing, or not what the pointer says.
    Wrong(String),
}

/// Looks at a file, and reads its first `limit` bytes.
pub(super) fn look(pointer: &Pointer, mappings: &PathMappings, limit: usize) -> Looked {
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
    let place = path.display();
    match read() {
        Ok((size, true, bytes)) if size == pointer.size => Looked::There(bytes),
        Ok((size, true, _)) => Looked::Wrong(format!(
            "it names the file {place}, which has {size} bytes instead of {}",
            pointer.size
        )),
        Ok((_, false, _)) => Looked::Wrong(format!("it names {place}, which is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Looked::Wrong(format!("it names the file {place}, which is missing"))
        }
        Err(error) => Looked::Wrong(format!(
            "it names the file {place}, which cannot be read: {error}"
        )),
    }
}
