use async_trait::async_trait;

use super::JobSchedulingStatus;
use crate::error::Result;
use crate::ids::JobId;

/// Which jobs run, **for observers**. The authority on whether a job has ended is
/// [`JobResultStore`](super::JobResultStore), not this registry.
///
/// # Fencing
/// Writes of services that ever started an election happen only while they lead (else `NotLeader`).
///
/// # Errors
/// Of every method, beside its own: `Denied`, `Unavailable` of where the records are.
///
/// # Cancellation
/// A dropped call may still take effect.
#[async_trait]
pub trait RunningJobsRegistry: Send + Sync + 'static {
    /// Records that the job runs.
    ///
    /// # Errors
    /// `Conflict` when it is done: done is final until the job is cleared.
    async fn set_job_running(&self, job_id: JobId) -> Result<()>;

    /// Records that the job is done.
    ///
    /// # Errors
    /// Those of the trait.
    async fn set_job_finished(&self, job_id: JobId) -> Result<()>;

    /// What is recorded; an unknown job is pending.
    ///
    /// # Errors
    /// `Corrupt` when something else is recorded; it is left as it is.
    async fn job_scheduling_status(&self, job_id: JobId) -> Result<JobSchedulingStatus>;

    /// The jobs that are recorded as running.
    ///
    /// # Errors
    /// Those of the trait.
    async fn running_job_ids(&self) -> Result<Vec<JobId>>;

    /// Forgets the job. An unknown one is success.
    ///
    /// # Errors
    /// Those of the trait.
    async fn clear_job(&self, job_id: JobId) -> Result<()>;
}
