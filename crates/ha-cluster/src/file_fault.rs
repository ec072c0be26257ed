//! Telling the faults of a job's own files apart.

use std::io;

/// Whether a fault of a source or sink is certain and stays until somebody changes what the job names: the file or
/// its folder is gone, or is something else. Only such a fault may end a job. All others (a full disk, one that
/// fails or is read-only, rights, a server that does not answer) may pass, and the job waits.
pub fn is_permanent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::UnexpectedEof
    )
}

/// What the user does about a fault that the job waits out.
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space; the job waits for it",
        io::ErrorKind::ReadOnlyFilesystem => "make the file system writable; the job waits for it",
        io::ErrorKind::PermissionDenied => "correct the access rights; the job waits for it",
        _ => "check the file system; the job waits for it, and can be cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_ends_no_job() {
        // ENOSPC, EIO, EROFS, ESTALE, EACCES, EMFILE.
        for errno in [28, 5, 30, 116, 13, 24] {
            let error = io::Error::from_raw_os_error(errno);
            assert!(!is_permanent(&error), "{error}");
        }
        // ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG.
        for errno in [2, 20, 21, 36] {
            let error = io::Error::from_raw_os_error(errno);
            assert!(is_permanent(&error), "{error}");
        }
    }
}
