use async_trait::async_trait;

use super::JobResultEntry;
use crate::error::Result;
use crate::health::Recovered;
use crate::ids::JobId;

/// The results of ended jobs, and the authority on whether a job has ended: one with an entry never runs again
/// (I7).
///
/// An entry is *dirty* until the clean-up of its job is complete, then *clean* (or gone, with
/// `job-result-store.delete-on-commit`). A torn or foreign entry blocks only its own job: it counts as ended,
/// with clean-up unknown.
///
/// # Fencing
/// `create_dirty_result` and `mark_result_as_clean` of services that ever started an election write only while
/// they lead (else `NotLeader`, not applied). Everybody may read.
///
/// # Errors
/// Of every method, beside its own: `Denied`, `Unavailable` of the storage, which is also the answer when the
/// folder of the results vanished; where processes compete `Unavailable` while ZooKeeper cannot be asked. An
/// error never means "not ended".
///
/// # Cancellation
/// A dropped write may still take effect, before the next one of the same job begins.
#[async_trait]
pub trait JobResultStore: Send + Sync + 'static {
    /// Decides the end of the job and records it durably, before any clean-up starts.
    ///
    /// # Errors
    /// `AlreadyExists` when an entry is there, dirty or clean; `NotLeader` (not applied) when this process
    /// leads no more; effect `Unknown` when the outcome could not be read back: the job has perhaps ended,
    /// read `has_job_result_entry` later.
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()>;

    /// Marks the clean-up of the job complete. A clean one is left as it is.
    ///
    /// # Errors
    /// `NotFound` when nothing is recorded; with delete-on-commit also the second time, which clean-up takes
    /// for done.
    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()>;

    /// Whether the job has ended. Looks up this job only, not a directory.
    ///
    /// # Errors
    /// Those of the trait.
    async fn has_job_result_entry(&self, job_id: JobId) -> Result<bool>;

    /// Whether the job has ended and its clean-up is not complete.
    ///
    /// # Errors
    /// Those of the trait.
    async fn has_dirty_job_result_entry(&self, job_id: JobId) -> Result<bool>;

    /// Whether the job has ended and its clean-up is complete.
    ///
    /// # Errors
    /// Those of the trait.
    async fn has_clean_job_result_entry(&self, job_id: JobId) -> Result<bool>;

    /// The entry of one job, dirty or clean.
    ///
    /// # Errors
    /// `Corrupt` when it is there but unreadable.
    async fn job_result_entry(&self, job_id: JobId) -> Result<Option<JobResultEntry>>;

    /// All entries whose clean-up is not complete.
    ///
    /// # Errors
    /// Those of the trait.
    async fn dirty_results(&self) -> Result<Recovered<JobResultEntry>>;

    /// All entries whose clean-up is complete.
    ///
    /// # Errors
    /// Those of the trait.
    async fn clean_results(&self) -> Result<Recovered<JobResultEntry>>;
}
