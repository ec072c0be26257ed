use std::error::Error as StdError;
use std::io;

use ha_core::error::{Error, ErrorKind};

/// Why one attempt at an operation of the storage failed.
pub(crate) enum Fault {
    /// Refused before anything was touched: a path that is not what it should be.
    Refused(Error),
    /// The store failed.
    Store(object_store::Error),
    /// The file system failed.
    Io(io::Error),
}

impl From<object_store::Error> for Fault {
    fn from(error: object_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// The cause in the operating system, where there is one.
    fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Refused(_) => None,
            Self::Io(error) => Some(error),
            Self::Store(error) => {
                let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
                while let Some(error) = cause {
                    if let Some(io) = error.downcast_ref::<io::Error>() {
                        return Some(io);
                    }
                    cause = error.source();
                }
                None
            }
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Store(object_store::Error::NotFound { .. }))
            || matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    pub(crate) fn is_already_exists(&self) -> bool {
        matches!(
            self,
            Self::Store(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. })
        )
    }

    /// Refused because another put of the same file is under way.
    pub(super) fn crossed() -> Self {
        Self::Io(io::Error::from(io::ErrorKind::ResourceBusy))
    }

    /// Whether the store cannot do what it was asked for.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::Store(
                object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. }
            )
        )
    }

    /// Whether nothing is known of what became of the request.
    pub(super) fn is_without_answer(&self) -> bool {
        matches!(self, Self::Store(object_store::Error::Generic { .. }))
    }

    /// Whether the same attempt may succeed a moment later. Access rights count: they are changed under running
    /// programs, and a recovery must not fall back to older data because of such a moment.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::Store(
                object_store::Error::NotFound { .. }
                | object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::InvalidPath { .. }
                | object_store::Error::NotSupported { .. }
                | object_store::Error::NotImplemented { .. },
            ) => false,
            Self::Io(_) | Self::Store(_) => !self.io().is_some_and(|error| {
                matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::ReadOnlyFilesystem
                        | io::ErrorKind::StorageFull
                        | io::ErrorKind::QuotaExceeded
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::IsADirectory
                        | io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::InvalidFilename
                        | io::ErrorKind::InvalidInput
                )
            }),
        }
    }

    fn is_refused_by_store(&self) -> bool {
        matches!(
            self,
            Self::Store(
                object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. }
            )
        ) && self.io().is_none()
    }

    /// The error for the user: what was tried on which file, the system's text, and what to do.
    pub(crate) fn into_error(self, verb: &str, place: &str) -> Error {
        if let Self::Refused(error) = self {
            return error;
        }
        let (kind, advice) = match self.io().map(io::Error::kind) {
            _ if self.is_not_found() => (ErrorKind::NotFound, "check that nobody removed it"),
            _ if self.is_refused_by_store() => (
                ErrorKind::Denied,
                "check the credentials of the store, and that they may read, write, list and delete there",
            ),
            Some(io::ErrorKind::PermissionDenied) => (
                ErrorKind::Denied,
                "give the user of this process the right to read and write there, then retry",
            ),
            Some(io::ErrorKind::ReadOnlyFilesystem) => {
                (ErrorKind::Denied, "mount the file system writable, then retry")
            }
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => (
                ErrorKind::Unavailable,
                "free space on that file system, then retry",
            ),
            Some(io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory) => (
                ErrorKind::Corrupt,
                "something else stands where a file or folder of the cluster is expected; move it away",
            ),
            _ => (
                ErrorKind::Unavailable,
                "check that the storage is mounted and reachable, then retry",
            ),
        };
        let cause = match self.io() {
            Some(error) => error.to_string(),
            None => self.to_string(),
        };
        // The cause stands in the message, where conditions and broken entries show it too; as a source it would
        // be printed twice.
        Error::new(kind, format!("cannot {verb}: {cause}"))
            .at(place)
            .advise(advice)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}
