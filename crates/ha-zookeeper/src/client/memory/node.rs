use std::collections::BTreeSet;

use bytes::Bytes;

use crate::client::Stat;

/// The transaction that a change belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) zxid: i64,
    pub(super) millis: i64,
}

/// A node.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) data: Bytes,
    pub(super) owner: i64,
    pub(super) version: i32,
    /// How many children it ever got. It is the next sequence number.
    pub(super) creations: i32,
    pub(super) children: BTreeSet<String>,
    pub(super) created: Option<Stamp>,
    pub(super) set: Option<Stamp>,
    /// The zxid of the last change of its children.
    pub(super) children_zxid: i64,
}

impl Node {
    pub(super) fn new(data: Bytes, owner: i64, stamp: Stamp) -> Self {
        Self {
            data,
            owner,
            created: Some(stamp),
            set: Some(stamp),
            children_zxid: stamp.zxid,
            ..Self::default()
        }
    }

    pub(super) fn mzxid(&self) -> i64 {
        self.set.map_or(0, |stamp| stamp.zxid)
    }

    pub(super) fn stat(&self) -> Stat {
        let children = i32::try_from(self.children.len()).unwrap_or(i32::MAX);
        Stat {
            czxid: self.created.map_or(0, |stamp| stamp.zxid),
            mzxid: self.mzxid(),
            version: self.version,
            // Servers keep the creations, and show creations and deletions.
            cversion: self.creations.wrapping_mul(2).wrapping_sub(children),
            ephemeral_owner: self.owner,
            data_length: i32::try_from(self.data.len()).unwrap_or(i32::MAX),
            num_children: children,
            ctime: self.created.map_or(0, |stamp| stamp.millis),
            mtime: self.set.map_or(0, |stamp| stamp.millis),
        }
    }
}
