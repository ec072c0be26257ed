use async_trait::async_trait;

use crate::error::Result;
use crate::ids::CheckpointId;
use crate::jobs::JobStatus;

/// Gives the ids of a job's checkpoints: strictly increasing over all processes and restarts, gaps allowed,
/// repeats never (I6).
///
/// # Fencing
/// Writes of services that ever started an election happen only while they lead (else `NotLeader`, not
/// applied).
///
/// # Errors
/// Of every method, beside its own: `Invalid` before `start`, `Closed` after `shutdown`, `Unavailable`.
///
/// # Cancellation
/// A dropped call may still take effect: an id that nobody received is given up.
#[async_trait]
pub trait CheckpointIdCounter: Send + Sync + 'static {
    /// Makes the counter ready: it stands at `max(stored, newest checkpoint + 1)`, 1 for a new job. Idempotent.
    ///
    /// # Errors
    /// `Corrupt` when what is stored is no counter; it is left as it is, and never taken for 1.
    async fn start(&self) -> Result<()>;

    /// Gives the next id and moves on, durably before it returns.
    ///
    /// # Errors
    /// `Invalid` before `start`; `Conflict` where another process moved the counter at the same time more
    /// often than this one could follow; `Unavailable`. An id whose reply was lost is given up, never repeated.
    async fn get_and_increment(&self) -> Result<CheckpointId>;

    /// The id that would be given next.
    ///
    /// # Errors
    /// Those of the trait.
    async fn get(&self) -> Result<CheckpointId>;

    /// Sets the id to be given next. It never goes back: a smaller one is ignored.
    ///
    /// # Errors
    /// Those of the trait.
    async fn set_count(&self, next: CheckpointId) -> Result<()>;

    /// Closes the counter. Deletes it only when `status` is globally terminal (I8). Idempotent.
    ///
    /// # Errors
    /// Those of the trait.
    async fn shutdown(&self, status: JobStatus) -> Result<()>;
}
