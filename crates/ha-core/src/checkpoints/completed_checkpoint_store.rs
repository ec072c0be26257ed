use async_trait::async_trait;

use super::CompletedCheckpoint;
use crate::error::Result;
use crate::jobs::JobStatus;

/// The completed checkpoints of one job, oldest first, at most a fixed number of them.
///
/// # Fencing
/// Writes of services that ever started an election happen only while they lead (else `NotLeader`, not
/// applied).
#[async_trait]
pub trait CompletedCheckpointStore: Send + Sync + 'static {
    /// Stores the checkpoint durably and publishes it, and in the same step takes out those it subsumes: the
    /// smaller ids beyond the number to retain. It is acknowledged when this returns `Ok`, and recovered until
    /// a newer acknowledged one subsumes it (I6).
    ///
    /// Failing to delete the file of an old one does not fail the new one; it is retried with a later add.
    ///
    /// # Errors
    /// `Invalid` for another job's checkpoint or an id that is not above the newest; `Closed` after
    /// `shutdown`; effect `Unknown` when the outcome could not be read back: its file is kept then, and
    /// the next add or recovery sees whether it counted.
    ///
    /// # Cancellation
    /// A dropped call may still take effect.
    async fn add_and_subsume(&self, checkpoint: CompletedCheckpoint) -> Result<()>;

    /// The newest one.
    ///
    /// # Errors
    /// `Corrupt` when the newest that was published cannot be read: an older one is never used silently. The
    /// older candidates stand in the health monitor's broken entry.
    async fn latest(&self) -> Result<Option<CompletedCheckpoint>>;

    /// All, oldest first.
    ///
    /// # Errors
    /// Those of [`CompletedCheckpointStore::latest`].
    async fn all(&self) -> Result<Vec<CompletedCheckpoint>>;

    /// How many are retained now.
    async fn num_retained(&self) -> usize;

    /// The most that are retained.
    fn max_retained(&self) -> usize;

    /// Closes the store. Deletes the checkpoints only when `status` is globally terminal (I8), pointers
    /// before files; else keeps all. Idempotent; a failed deletion may be repeated.
    ///
    /// # Errors
    /// `NotLeader` (not applied); `Denied`, `Unavailable`: what could not be deleted is there still.
    ///
    /// # Cancellation
    /// A dropped call may have deleted a part. Repeat it.
    async fn shutdown(&self, status: JobStatus) -> Result<()>;
}
