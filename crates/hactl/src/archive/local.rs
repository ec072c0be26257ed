use std::io;
use std::path::Path;

use ha_core::{Error, ErrorKind};

/// What went wrong with the archive's file on this machine.
pub(super) fn local_error(what: &'static str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    let advice = match kind {
        ErrorKind::NotFound => "check the path",
        ErrorKind::AlreadyExists => "choose another name: no file is overwritten",
        ErrorKind::Denied => "check the rights of the file and its folder",
        _ => "check the file system",
    };
    Error::new(kind, format!("{what}: {error}"))
        .at(path.display().to_string())
        .advise(advice)
        .not_applied()
        .caused_by(error)
}
