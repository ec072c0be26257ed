//! Jobs: their graphs, results, and who observes them running.

mod job_graph;
mod job_graph_listener;
mod job_graph_store;
mod job_result;
mod job_result_store;
mod job_scheduling_status;
mod job_status;
mod running_jobs_registry;

pub use job_graph::{JobGraph, StoredJobGraph};
pub use job_graph_listener::JobGraphListener;
pub use job_graph_store::JobGraphStore;
pub use job_result::{ApplicationStatus, JobResult, JobResultEntry};
pub use job_result_store::JobResultStore;
pub use job_scheduling_status::JobSchedulingStatus;
pub use job_status::JobStatus;
pub use running_jobs_registry::RunningJobsRegistry;
