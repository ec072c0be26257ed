//! The job manager: runs one job under its own leadership, takes its checkpoints, decides its end.

mod checkpointer;
mod job_execution;
mod job_handle;
mod job_leadership;
mod job_manager;
mod job_outcome;

pub use job_handle::JobHandle;
pub use job_manager::{JobManager, JobManagerEnd, JobManagerOptions};
