//! The write fence (I2): every leader write is one multi whose first operation checks the leader's own latch
//! at the version of its grant.

mod commit;
mod fence;
mod fenced_writer;
mod leadership_fence;
mod lost_reply;
mod term;

pub use commit::{Commit, Proof, Refusal};
pub use fence::Fence;
pub use fenced_writer::FencedWriter;
pub use leadership_fence::{FenceRefusal, LeadershipFence};
pub use term::{Term, TermBinding};
