//! Cancelling a job: a request to the leader of the REST endpoint, which ends the job as it ends jobs, and records that.
//! No latch is taken and nothing is written here; what is asked of one leader is asked of the next one again, because a
//! leader does not write down that it was asked.

mod cancelling;
mod document;
mod rest_leader;

pub use cancelling::CancelOptions;
pub(crate) use cancelling::cancel;
pub use document::{Cancellation, CancelledJob};

#[cfg(test)]
mod tests;
