use std::path::Path;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::error::{Error, Result};
use ha_core::ids::{BlobKey, JobId};

/// Keeps nothing: without HA storage a blob's owner has the only copy. Says so by `false`.
pub(super) struct VoidBlobStore;

#[async_trait]
impl BlobStore for VoidBlobStore {
    /// # Errors
    /// `Invalid`: nothing is put here, so nothing needs a key.
    async fn create_key(&self, _local_file: &Path) -> Result<BlobKey> {
        Err(Error::invalid("standalone services keep no blobs")
            .advise("set high-availability to filesystem or zookeeper, with a storageDir"))
    }

    async fn put(&self, _local_file: &Path, _job_id: JobId, _key: &BlobKey) -> Result<bool> {
        Ok(false)
    }

    async fn get(&self, _job_id: JobId, _key: &BlobKey, _local_file: &Path) -> Result<bool> {
        Ok(false)
    }

    async fn delete(&self, _job_id: JobId, _key: &BlobKey) -> Result<bool> {
        Ok(false)
    }

    async fn delete_all(&self, _job_id: JobId) -> Result<bool> {
        Ok(false)
    }

    async fn keys(&self, _job_id: JobId) -> Result<Vec<BlobKey>> {
        Ok(Vec::new())
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        Ok(())
    }
}
