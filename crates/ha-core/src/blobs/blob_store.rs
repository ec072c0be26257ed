use std::path::Path;

use async_trait::async_trait;

use crate::error::Result;
use crate::ids::{BlobKey, JobId};

/// Durable large objects, by job and key. They live as long as their job.
///
/// `Ok(false)` means *not there*; an error means *could not tell*. Nothing half-written is ever visible. Content
/// is streamed: memory does not grow with its size.
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// Makes a key for the content of a local file.
    async fn create_key(&self, local_file: &Path) -> Result<BlobKey>;

    /// Stores the content of a local file. A key never gets other content; equal content again is success.
    /// `Ok(false)` only where the store keeps nothing (no HA storage is configured).
    ///
    /// # Errors
    /// `Invalid` when the content is not that of the key.
    async fn put(&self, local_file: &Path, job_id: JobId, key: &BlobKey) -> Result<bool>;

    /// Copies a blob into a local file, which is put in place whole or not at all. `Ok(false)`: not there.
    ///
    /// # Errors
    /// `Corrupt` when the content does not match the key; the local file is not touched then.
    async fn get(&self, job_id: JobId, key: &BlobKey, local_file: &Path) -> Result<bool>;

    /// Deletes a blob. `Ok(false)`: it was not there.
    async fn delete(&self, job_id: JobId, key: &BlobKey) -> Result<bool>;

    /// Deletes all blobs of a job. `Ok(false)`: there was none.
    async fn delete_all(&self, job_id: JobId) -> Result<bool>;

    /// The keys of a job's blobs.
    async fn keys(&self, job_id: JobId) -> Result<Vec<BlobKey>>;

    /// Deletes all blobs of this cluster and closes the store. Idempotent.
    async fn close_and_cleanup_all_data(&self) -> Result<()>;
}
