use std::path::Path;

use async_trait::async_trait;

use crate::error::Result;
use crate::ids::{BlobKey, JobId};

/// Durable large objects, by job and key. They live as long as their job.
///
/// `Ok(false)` means *not there*; an error means *could not tell*. Nothing half-written is ever visible. Content
/// is streamed: memory does not grow with its size.
///
/// # Fencing
/// Where processes compete, `put`, the deletions and the clean-up are refused with `NotLeader` (nothing applied)
/// unless this process leads, or neither it nor another process contends. The term is proved right before the
/// files are touched.
///
/// # Errors
/// `Closed` after the services or the store were closed; `Denied`, `Unavailable` of the storage; where processes
/// compete also `NotLeader`, and `Unavailable` while ZooKeeper cannot be asked.
///
/// # Cancellation
/// A dropped call may still take effect, wholly or, where it deletes several blobs, in part. Repeat it.
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// Makes a key for the content of a local file. Stores nothing.
    ///
    /// # Errors
    /// `Invalid` for what is no regular file; `NotFound`, `Denied`, `Unavailable` when it cannot be read.
    async fn create_key(&self, local_file: &Path) -> Result<BlobKey>;

    /// Stores the content of a local file. A key never gets other content; equal content again is success, and leaves
    /// what is there as it is.
    ///
    /// Put the blobs of a job first, then its job graph. Once the job is known, it keeps them; until then they are kept
    /// for the orphan age (`high-availability.orphan-age`) from the end of its last upload on.
    ///
    /// `Ok(false)` only where the store keeps nothing (no HA storage is configured).
    ///
    /// # Errors
    /// `Invalid` when the content is not that of the key; else those of the trait.
    ///
    /// # Cancellation
    /// The blob is there whole, or not at all.
    async fn put(&self, local_file: &Path, job_id: JobId, key: &BlobKey) -> Result<bool>;

    /// Copies a blob into a local file, which is put in place whole or not at all. `Ok(false)`: not there.
    ///
    /// # Errors
    /// `Corrupt` when the content does not match the key; the local file is not touched then.
    async fn get(&self, job_id: JobId, key: &BlobKey, local_file: &Path) -> Result<bool>;

    /// Deletes a blob. `Ok(false)`: it was not there.
    ///
    /// # Errors
    /// Those of the trait.
    async fn delete(&self, job_id: JobId, key: &BlobKey) -> Result<bool>;

    /// Deletes all blobs of a job. `Ok(false)`: there was none.
    ///
    /// # Errors
    /// Those of the trait; a repetition goes on.
    async fn delete_all(&self, job_id: JobId) -> Result<bool>;

    /// The keys of a job's blobs.
    ///
    /// # Errors
    /// Those of the trait, but `NotLeader`: anybody may read.
    async fn keys(&self, job_id: JobId) -> Result<Vec<BlobKey>>;

    /// Deletes all blobs of this cluster and closes the store. Idempotent.
    ///
    /// # Errors
    /// Those of the trait; a repetition goes on.
    async fn close_and_cleanup_all_data(&self) -> Result<()>;
}
