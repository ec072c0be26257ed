use ha_core::ids::LeaderSessionId;

use crate::client::{Operation, SessionId};

/// What proves a term of leadership in a multi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The latch of the grant.
    pub latch_path: String,
    /// Its version at the grant; never -1, which would mean any.
    pub version: i32,
    /// The id of the term.
    pub session: LeaderSessionId,
    /// The session that owns the latch.
    pub zookeeper_session: SessionId,
}

impl Fence {
    /// The check that is operation 0 of every multi of the term.
    pub fn check(&self) -> Operation {
        Operation::Check {
            path: self.latch_path.clone(),
            version: self.version,
        }
    }
}
