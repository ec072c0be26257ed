use std::fmt;
use std::time::{Duration, SystemTime};

use ha_core::error::Error;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use uuid::Uuid;

use super::observed_file::{FileKind, ForeignFile, ObservedFile};
use crate::storage::HaStorage;

/// A file that nothing names, old enough, in two observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// What its name says that it is.
    pub kind: FileKind,
    /// The job that it belongs to, where it is one job's.
    pub owner: Option<JobId>,
    /// Relative to the cluster's folder, as a pointer would name it.
    pub path: String,
    /// Where it is, for people.
    pub place: String,
    /// In bytes.
    pub size: u64,
    /// By the store's own clock.
    pub age: Duration,
    /// By the same.
    pub last_modified: SystemTime,
}

impl Orphan {
    /// The file, as both observations found it.
    pub fn file(&self) -> ObservedFile {
        ObservedFile {
            kind: self.kind,
            owner: self.owner,
            path: self.path.clone(),
            place: self.place.clone(),
            size: self.size,
            last_modified: self.last_modified,
        }
    }
}

/// Why nothing is called an orphan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no tree, or one without an identity: the pointers are elsewhere, or gone.
    NoTree {
        /// The cluster node.
        path: String,
    },
    /// The storage has no identity: it is not known whose files these are.
    NoStorage {
        /// The cluster's folder.
        place: String,
    },
    /// The identity of the tree or of the storage cannot be read.
    UnreadableIdentity {
        /// The znode or file.
        place: String,
        /// Why.
        reason: String,
    },
    /// Tree and storage are of two clusters.
    IdentityMismatch {
        /// The znode.
        path: String,
        /// The tree's cluster.
        tree: Uuid,
        /// The storage's cluster.
        storage: Uuid,
    },
    /// The storage was made for another tree, whose pointers may name its files.
    AnotherTree {
        /// The cluster node that was looked at.
        path: String,
        /// The one that the storage names.
        tree: String,
    },
    /// The tree was lost once, and nobody has accepted that: files may be all that is left of jobs.
    TreeLost {
        /// The znode that says so.
        path: String,
    },
    /// There are state files and no pointer at all.
    NoPointers {
        /// How many state files and blobs there are.
        files: usize,
    },
    /// There are pointers, and none of them can be read.
    NoReadablePointer {
        /// How many there are.
        pointers: usize,
    },
    /// The cluster became another one between the observations.
    ClusterChanged,
    /// The observations are too close together.
    TooClose {
        /// How far they are apart.
        apart: Duration,
        /// How far they must be.
        needed: Duration,
    },
}

impl Refusal {
    /// The storage has no identity.
    pub fn no_storage(storage: &HaStorage) -> Self {
        Self::NoStorage {
            place: storage.display("").trim_end_matches('/').to_owned(),
        }
    }

    /// An identity is corrupt, as `error` says.
    pub fn unreadable_identity(error: &Error) -> Self {
        Self::UnreadableIdentity {
            place: error.subject().unwrap_or("identity").to_owned(),
            reason: error.message().to_owned(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTree { path } => write!(
                f,
                "there is no tree of the cluster at {path}: its pointers are elsewhere, or lost; check high-availability.zookeeper.quorum and path.root"
            ),
            Self::NoStorage { place } => write!(
                f,
                "{place} has no identity.json: it is not known whose files these are; check high-availability.storageDir and cluster-id"
            ),
            Self::UnreadableIdentity { place, reason } => {
                write!(f, "the identity {place} cannot be read: {reason}")
            }
            Self::IdentityMismatch { path, tree, storage } => write!(
                f,
                "the tree belongs to the cluster {tree} ({path}), the storage to the cluster {storage}: their pointers and files have nothing to do with each other"
            ),
            Self::AnotherTree { path, tree } => write!(
                f,
                "the storage belongs to the tree {tree}, not to {path}: its pointers may name these files"
            ),
            Self::TreeLost { path } => write!(
                f,
                "the tree was lost once, says {path}: files without a pointer may be all that is left of jobs; look at them, and accept the loss first"
            ),
            Self::NoPointers { files } => write!(
                f,
                "the tree has no pointer at all, and there are {files} state files and blobs: a tree that was emptied looks so; if all jobs have ended, say that the empty tree is accepted"
            ),
            Self::NoReadablePointer { pointers } => write!(
                f,
                "none of the {pointers} pointers can be read: they may be of a newer version, or altered"
            ),
            Self::ClusterChanged => {
                f.write_str("the cluster was removed and made anew meanwhile; look again")
            }
            Self::TooClose { apart, needed } => write!(
                f,
                "the two observations are {apart:?} apart, and must be at least {needed:?}"
            ),
        }
    }
}

/// What two observations found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrphanReport {
    /// Why there are none, where that is not because everything is named.
    pub refusal: Option<Refusal>,
    /// The orphans, by place.
    pub orphans: Vec<Orphan>,
    /// What is not of the layout, by place.
    pub foreign: Vec<ForeignFile>,
    /// Pointers and counters that cannot be read, and what shows that tree and storage are not of one time, by path: files
    /// that pointers name and that are missing, checkpoints of ids that the counter has not given. The files of their
    /// jobs are kept.
    pub unreadable: Vec<BrokenEntry>,
}
