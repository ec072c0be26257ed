use bytes::Bytes;

use super::{Stat, ZkError};

/// How a node is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// It stays until it is deleted.
    Persistent,
    /// It goes with the session.
    Ephemeral,
    /// It goes with the session, and the server appends ten digits to its name.
    EphemeralSequential,
}

/// One operation of a multi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Requires that the node is at this version.
    Check {
        /// The node.
        path: String,
        /// Its version.
        version: i32,
    },
    /// Creates a node.
    Create {
        /// The node.
        path: String,
        /// Its data.
        data: Bytes,
        /// How.
        mode: CreateMode,
    },
    /// Sets a node's data.
    Set {
        /// The node.
        path: String,
        /// Its new data.
        data: Bytes,
        /// The version it must be at; `None` for any.
        version: Option<i32>,
    },
    /// Deletes a node.
    Delete {
        /// The node.
        path: String,
        /// The version it must be at; `None` for any.
        version: Option<i32>,
    },
}

impl Operation {
    /// The node that it is about.
    pub fn path(&self) -> &str {
        match self {
            Self::Check { path, .. }
            | Self::Create { path, .. }
            | Self::Set { path, .. }
            | Self::Delete { path, .. } => path,
        }
    }
}

/// The result of one operation of a multi that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationResult {
    /// The version was right.
    Checked,
    /// Created, under this path. (The Stat that servers send here is wrong: ZOOKEEPER-4026.)
    Created {
        /// The path, with its sequence number where it is sequential.
        path: String,
    },
    /// Set; the Stat has the new version and the zxid of the multi.
    Set {
        /// The node's Stat after the multi.
        stat: Stat,
    },
    /// Deleted.
    Deleted,
}

/// Why a multi failed. A multi is applied whole or not at all.
#[derive(Clone, Debug)]
pub enum MultiError {
    /// The operation of this index refused; nothing was applied.
    Refused {
        /// Its index.
        index: usize,
        /// Why.
        error: ZkError,
    },
    /// The multi as a whole failed; whether it was applied stands in the error.
    Failed(ZkError),
}
