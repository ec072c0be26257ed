use async_trait::async_trait;

use crate::ids::JobId;

/// Is told of job graphs that **other** processes added or removed; own changes are not reported.
///
/// A replacement is an addition. Calls of one store run on one task, in order.
#[async_trait]
pub trait JobGraphListener: Send + Sync + 'static {
    /// Another process added or replaced the job graph.
    async fn on_added_job_graph(&self, job_id: JobId);

    /// Another process removed the job graph.
    async fn on_removed_job_graph(&self, job_id: JobId);
}
