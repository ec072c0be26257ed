//! The write fence (I2): every leader write is one multi whose first operation checks the leader's own latch
//! at the version of its grant.

mod fence;
mod leadership_fence;

pub use fence::Fence;
pub use leadership_fence::{FenceRefusal, LeadershipFence};
