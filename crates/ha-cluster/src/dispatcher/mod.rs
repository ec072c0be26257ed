//! The dispatcher: accepts jobs, recovers those of earlier leaders, runs each under its own job manager, and
//! cleans up after those that ended.

mod dispatcher;
mod ended_jobs;
mod gateway;
mod graph_listener;
mod job_claims;
mod job_runner;
mod recovery;
mod standing;
mod term;

pub use dispatcher::{Dispatcher, DispatcherOptions};
pub use gateway::Submitted;
