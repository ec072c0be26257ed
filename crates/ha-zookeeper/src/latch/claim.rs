use ha_core::ids::{Epoch, LeaderSessionId};

use crate::client::Stat;
use crate::fence::Fence;

use super::LatchNode;

/// A claim that was applied: the latch carries the new term's id. It grants nothing by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The id of the term.
    pub session: LeaderSessionId,
    /// The zxid of the claim: greater than that of every earlier claim of any latch.
    pub epoch: Epoch,
    /// The latch's version.
    pub version: i32,
}

impl Claim {
    pub(super) fn new(session: LeaderSessionId, stat: &Stat) -> Self {
        Self {
            session,
            // A zxid is never negative.
            epoch: Epoch::new(u64::try_from(stat.mzxid).unwrap_or(0)),
            version: stat.version,
        }
    }

    /// What every write of the term is conditional on.
    pub fn fence(&self, node: &LatchNode) -> Fence {
        Fence {
            latch_path: node.path.clone(),
            version: self.version,
            session: self.session,
            zookeeper_session: node.session,
        }
    }
}
