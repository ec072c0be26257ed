use std::fmt;

use ha_core::error::{Error, Result};
use ha_core::ids::{BlobKey, JobId};

use crate::folder::RelativePath;
use crate::orphans::{FileKind, ObservedFile};
use crate::results::{Progress, ResultName, parse_result_name};
use crate::state::StateKind;
use crate::state::state_path::{self, BLOBS};

/// Begins the names of files of the cluster's folder.
const FILES: &str = "files";
/// Begins the names of results.
const RESULTS: &str = "results";

/// What a file that is carried holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarriedKind {
    /// A state file.
    State(StateKind),
    /// A blob, whose content its key names.
    Blob(BlobKey),
    /// A result whose job is cleaned up.
    CleanResult,
    /// A result whose job is not cleaned up.
    DirtyResult,
}

/// A file of a cluster by a name that is good in every storage: `files/<path in the cluster's folder>`, or
/// `results/<name in the folder of results>`. Identity, temporary and foreign files have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedFile {
    kind: CarriedKind,
    owner: JobId,
    /// In the cluster's folder, or in that of results.
    path: RelativePath,
}

impl CarriedFile {
    /// Reads a name that came from outside.
    ///
    /// # Errors
    /// `Invalid` for everything that is not the name of a file of the layout: it could lead out of the folder.
    pub fn parse(name: &str) -> Result<Self> {
        match name.split_once('/') {
            Some((FILES, path)) => Self::in_folder(path),
            Some((RESULTS, name)) => Self::result(name),
            _ => None,
        }
        .ok_or_else(|| Error::invalid(format!("{name:?} is not the name of a file of a cluster")))
    }

    /// The file at a path of the cluster's folder, as a pointer names it; `None` where the path is not one of the layout.
    pub fn in_folder(path: &str) -> Option<Self> {
        let state = StateKind::ALL.into_iter().find_map(|kind| {
            let (path, owner) = state_path::parse(kind, path).ok()?;
            let kind = CarriedKind::State(kind);
            Some(Self { kind, owner, path })
        });
        state.or_else(|| Self::blob(path))
    }

    fn blob(path: &str) -> Option<Self> {
        let (owner, name) = path.strip_prefix(BLOBS)?.strip_prefix('/')?.split_once('/')?;
        let owner = JobId::from_name(owner)?;
        let key: BlobKey = name.parse().ok()?;
        // One spelling only: two names must not be one file.
        (key.to_string() == name).then_some(Self {
            kind: CarriedKind::Blob(key),
            owner,
            path: RelativePath::parse(path).ok()?,
        })
    }

    fn result(name: &str) -> Option<Self> {
        let ResultName::Of(owner, progress) = parse_result_name(name) else {
            return None;
        };
        let kind = match progress {
            Progress::Dirty => CarriedKind::DirtyResult,
            Progress::Clean => CarriedKind::CleanResult,
        };
        let path = RelativePath::root().child(name)?;
        Some(Self { kind, owner, path })
    }

    /// A file that a survey found; `None` for a temporary one.
    pub fn observed(file: &ObservedFile) -> Option<Self> {
        match file.kind {
            FileKind::Result => Self::result(&file.path),
            FileKind::JobGraph | FileKind::Checkpoint | FileKind::FileBacked | FileKind::Blob => {
                Self::in_folder(&file.path)
            }
            FileKind::Temporary => None,
        }
    }

    /// What it holds.
    pub const fn kind(&self) -> &CarriedKind {
        &self.kind
    }

    /// The job that it belongs to.
    pub const fn owner(&self) -> JobId {
        self.owner
    }

    pub(super) const fn path(&self) -> &RelativePath {
        &self.path
    }

    pub(super) const fn is_result(&self) -> bool {
        matches!(self.kind, CarriedKind::CleanResult | CarriedKind::DirtyResult)
    }
}

impl fmt::Display for CarriedFile {
    /// The name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = if self.is_result() { RESULTS } else { FILES };
        write!(f, "{folder}/{}", self.path)
    }
}
