use bytes::Bytes;
use ha_core::{Error, ErrorKind};
use uuid::Uuid;

use crate::client::{OperationResult, ZkCode, ZkError};

/// What became of operations that were committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commit {
    /// All were applied. The results of the caller's operations, in their order; `None` when the reply was lost
    /// and reading back proved it.
    Applied(Option<Vec<OperationResult>>),
    /// One was refused, and none was applied.
    Refused(Refusal),
}

/// A lost compare-and-set: the operation that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its index among the caller's operations.
    pub index: usize,
    /// Its znode.
    pub path: String,
    /// `NoNode`, `NodeExists`, `BadVersion` or `NotEmpty`.
    pub code: ZkCode,
}

impl Refusal {
    /// The refusal as an error, where the caller has no better use for it.
    pub fn into_error(self, message: &'static str) -> Error {
        let kind = ZkError::new(self.code, message).at(&self.path).kind();
        let kind = match kind {
            // Somebody else's change in between is a conflict, whichever way it shows.
            ErrorKind::NotFound => ErrorKind::Conflict,
            kind => kind,
        };
        Error::new(kind, message).at(self.path).not_applied()
    }
}

/// What proves that operations whose reply was lost were applied. One proof is enough: a multi is applied whole
/// or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The node holds my write id.
    WriteId {
        /// The node.
        path: String,
        /// The id.
        write_id: Uuid,
    },
    /// The node holds exactly this.
    Content {
        /// The node.
        path: String,
        /// Its data.
        data: Bytes,
    },
    /// The node is gone.
    Gone {
        /// The node.
        path: String,
    },
    /// All these nodes are gone. One alone may have been deleted by somebody else, and the multi refused.
    AllGone {
        /// The nodes, at least one.
        paths: Vec<String>,
    },
    /// Nothing does: equal values prove nothing (a counter), or there is nothing to prove.
    Nothing,
}

impl Proof {
    /// The nodes to read.
    pub(super) fn paths(&self) -> &[String] {
        match self {
            Self::WriteId { path, .. } | Self::Content { path, .. } | Self::Gone { path } => {
                std::slice::from_ref(path)
            }
            Self::AllGone { paths } => paths,
            Self::Nothing => &[],
        }
    }
}
