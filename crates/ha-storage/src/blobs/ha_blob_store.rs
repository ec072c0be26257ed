use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::{BlobKey, JobId};

use super::content::{LocalReader, LocalWriter, StoredReader};
use crate::folder::{Creation, RelativePath};
use crate::state::state_path::{self, BLOBS, layout};
use crate::storage::{HaStorage, corrupt};

/// Blobs as files `blobs/<job-id>/<key>` of the HA storage. The key names the hash of the content, by which both
/// put and get verify it. At most a few MiB of a blob are in memory.
pub struct HaBlobStore {
    storage: Arc<HaStorage>,
    is_closed: AtomicBool,
}

impl HaBlobStore {
    /// The blobs of the storage's cluster.
    pub fn new(storage: Arc<HaStorage>) -> Arc<Self> {
        Arc::new(Self {
            storage,
            is_closed: AtomicBool::new(false),
        })
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Error::closed("the blob store"));
        }
        Ok(())
    }

    fn path(job_id: JobId, key: &BlobKey) -> RelativePath {
        layout([BLOBS, &job_id.to_string(), &key.to_string()])
    }

    /// [`BlobStore::put`], where `permission` is asked last: after the upload, however long it took, and right
    /// before the blob becomes visible.
    ///
    /// # Errors
    /// Those of `put`, and that of `permission`: nothing is put then.
    ///
    /// # Cancellation
    /// A dropped call leaves the blob whole or not there, and perhaps a temporary file for the next sweep.
    pub async fn put_if(
        &self,
        local_file: &Path,
        job_id: JobId,
        key: &BlobKey,
        permission: impl Future<Output = Result<()>> + Send,
    ) -> Result<bool> {
        self.check_open()?;
        let path = Self::path(job_id, key);
        let mut reader = LocalReader::open(local_file).await?;
        let mut upload = self.storage.folder().upload(path.clone()).await?;
        // Nothing is visible before the whole content was seen to be that of the key.
        let copied = async {
            while let Some(piece) = reader.next().await? {
                upload.write(piece).await?;
            }
            upload.flush().await?;
            if reader.hash() != *key.sha256() {
                return Err(
                    Error::invalid(format!("the content is not that of the blob key {key}"))
                        .at(local_file.display().to_string()),
                );
            }
            permission.await
        };
        if let Err(error) = copied.await {
            upload.abandon().await;
            return Err(error);
        }
        let finishing = upload.finish();
        let put = self.storage.environment().step(steps::PUT_BLOB, finishing);
        if put.await? == Creation::Exists && !self.is_stored(&path, key).await? {
            return Err(
                Error::new(ErrorKind::Conflict, "the blob was deleted while it was put")
                    .at(self.storage.display(path.as_str()))
                    .not_applied(),
            );
        }
        Ok(true)
    }

    /// The jobs that have blobs.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn jobs(&self) -> Result<Vec<JobId>> {
        self.check_open()?;
        self.storage.jobs_with_blobs().await
    }

    /// Whether the blob is there, whole.
    ///
    /// # Errors
    /// `Corrupt` when what is there is not the content of the key.
    async fn is_stored(&self, path: &RelativePath, key: &BlobKey) -> Result<bool> {
        let Some(mut stored) = StoredReader::open(self.storage.folder(), path).await? else {
            return Ok(false);
        };
        while stored.next().await?.is_some() {}
        if stored.hash() != *key.sha256() {
            return Err(self.altered(path));
        }
        Ok(true)
    }

    fn altered(&self, path: &RelativePath) -> Error {
        corrupt("the blob is cut off or was altered: its content is not that of its key".to_owned())
            .at(self.storage.display(path.as_str()))
            .advise("it was left untouched; put it back from a copy, or delete it and upload it again")
    }
}

#[async_trait]
impl BlobStore for HaBlobStore {
    async fn create_key(&self, local_file: &Path) -> Result<BlobKey> {
        let mut reader = LocalReader::open(local_file).await?;
        while reader.next().await?.is_some() {}
        Ok(BlobKey::new(reader.hash(), &*self.storage.environment().ids))
    }

    async fn put(&self, local_file: &Path, job_id: JobId, key: &BlobKey) -> Result<bool> {
        self.put_if(local_file, job_id, key, async { Ok(()) }).await
    }

    async fn get(&self, job_id: JobId, key: &BlobKey, local_file: &Path) -> Result<bool> {
        self.check_open()?;
        let path = Self::path(job_id, key);
        let Some(mut stored) = StoredReader::open(self.storage.folder(), &path).await? else {
            return Ok(false);
        };
        let unique = self.storage.environment().ids.uuid();
        let mut writer = LocalWriter::create(local_file, unique).await?;
        while let Some(piece) = stored.next().await? {
            writer.write(&piece).await?;
        }
        if stored.hash() != *key.sha256() {
            return Err(self.altered(&path));
        }
        writer.finish().await?;
        Ok(true)
    }

    async fn delete(&self, job_id: JobId, key: &BlobKey) -> Result<bool> {
        self.check_open()?;
        let path = Self::path(job_id, key);
        let deleting = self.storage.folder().delete(&path);
        let environment = self.storage.environment();
        let deleted = environment.step(steps::REMOVE_BLOB, deleting).await?;
        self.storage
            .folder()
            .remove_if_empty(&state_path::blob_folder(job_id))
            .await;
        Ok(deleted)
    }

    async fn delete_all(&self, job_id: JobId) -> Result<bool> {
        self.check_open()?;
        self.storage.delete_blobs(job_id).await
    }

    async fn keys(&self, job_id: JobId) -> Result<Vec<BlobKey>> {
        self.check_open()?;
        let files = self.storage.files(&state_path::blob_folder(job_id)).await?;
        Ok(files
            .iter()
            .filter_map(|path| path.file_name().parse().ok())
            .collect())
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.is_closed.store(true, Ordering::Release);
        self.storage.delete_all_blobs().await
    }
}
