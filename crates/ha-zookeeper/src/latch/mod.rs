//! The latch: one ephemeral sequential node a process, by which it stands in the election (design §4.1 to §4.4).
//!
//! [`decide`] is the pure rule over a listing; [`LeaderLatch`] makes, claims and gives up the node, and resolves
//! lost replies; `OwnNode` follows what others do to it.

mod claim;
mod decision;
mod latch_node;
mod leader_latch;
mod leaving;
mod own_node;
mod predecessor;

pub use claim::Claim;
pub use decision::{LatchDecision, decide};
pub use latch_node::LatchNode;
pub use leader_latch::LeaderLatch;
pub(crate) use own_node::{OwnNode, OwnNodeChange};
pub(crate) use predecessor::{Gone, wait_until_gone};

#[cfg(test)]
mod tests;
