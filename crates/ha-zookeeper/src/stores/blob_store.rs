use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::ids::{BlobKey, JobId};
use ha_core::{Error, Result};
use ha_storage::HaBlobStore;

use super::StoreContext;

/// The blobs of the cluster, written and deleted by the leader only (I2).
///
/// No pointer names a blob, so there is no multi that carries the fence: what is to be deleted is listed first,
/// then the term is proved by a commit of the check alone, and only the listed files are deleted. Services that
/// never contended write only while nobody contends.
pub struct ZooKeeperBlobStore {
    files: Arc<HaBlobStore>,
    context: StoreContext,
    /// The services were closed.
    closed: Arc<AtomicBool>,
    /// All blobs were removed through this store.
    is_removed: AtomicBool,
}

impl ZooKeeperBlobStore {
    /// The blobs of the cluster of `context`, as long as `closed` is not set.
    pub fn new(context: StoreContext, closed: Arc<AtomicBool>) -> Self {
        Self {
            files: HaBlobStore::new(Arc::clone(&context.storage)),
            context,
            closed,
            is_removed: AtomicBool::new(false),
        }
    }

    fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the HA services"));
        }
        if self.is_removed.load(Ordering::Acquire) {
            return Err(Error::closed("the blob store"));
        }
        Ok(())
    }
}

#[async_trait]
impl BlobStore for ZooKeeperBlobStore {
    async fn create_key(&self, local_file: &Path) -> Result<BlobKey> {
        self.files.create_key(local_file).await
    }

    async fn put(&self, local_file: &Path, job_id: JobId, key: &BlobKey) -> Result<bool> {
        self.check_open()?;
        let term = self.context.writer.begin().await?;
        let permission = async {
            self.check_open()?;
            self.context.writer.prove(&term).await
        };
        self.files.put_if(local_file, job_id, key, permission).await
    }

    async fn get(&self, job_id: JobId, key: &BlobKey, local_file: &Path) -> Result<bool> {
        self.check_open()?;
        self.files.get(job_id, key, local_file).await
    }

    async fn delete(&self, job_id: JobId, key: &BlobKey) -> Result<bool> {
        self.check_open()?;
        let term = self.context.writer.begin().await?;
        self.context.writer.prove(&term).await?;
        self.files.delete(job_id, key).await
    }

    async fn delete_all(&self, job_id: JobId) -> Result<bool> {
        self.check_open()?;
        let term = self.context.writer.begin().await?;
        let keys = self.files.keys(job_id).await?;
        self.context.writer.prove(&term).await?;
        let mut any = false;
        for key in keys {
            any |= self.files.delete(job_id, &key).await?;
        }
        Ok(any)
    }

    async fn keys(&self, job_id: JobId) -> Result<Vec<BlobKey>> {
        self.check_open()?;
        self.files.keys(job_id).await
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        if self.is_removed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.check_open()?;
        let term = self.context.writer.begin().await?;
        let mut blobs = Vec::new();
        for job_id in self.files.jobs().await? {
            for key in self.files.keys(job_id).await? {
                blobs.push((job_id, key));
            }
        }
        self.context.writer.prove(&term).await?;
        for (job_id, key) in blobs {
            self.files.delete(job_id, &key).await?;
        }
        self.is_removed.store(true, Ordering::Release);
        Ok(())
    }
}
