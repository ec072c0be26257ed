use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::environment::RandomIdSource;
use ha_core::ids::{BlobKey, JobId};
use ha_core::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};

use super::Fault;
use super::disk::{corrupt, refused};
use super::process::Process;

pub(super) struct Blobs {
    pub(super) process: Arc<Process>,
}

fn read(local_file: &Path) -> Result<Vec<u8>> {
    std::fs::read(local_file).map_err(|error| Error::invalid("cannot be read").caused_by(error))
}

fn hash(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

impl Blobs {
    fn check_write(&self) -> Result<()> {
        match self.process.fault {
            Fault::BlobsUnfenced => Ok(()),
            _ => self.process.check_write(),
        }
    }
}

#[async_trait]
impl BlobStore for Blobs {
    async fn create_key(&self, local_file: &Path) -> Result<BlobKey> {
        Ok(BlobKey::new(hash(&read(local_file)?), &RandomIdSource))
    }

    async fn put(&self, local_file: &Path, job_id: JobId, key: &BlobKey) -> Result<bool> {
        let content = read(local_file)?;
        if hash(&content) != *key.sha256() && self.process.fault != Fault::WrongContentAccepted {
            return Err(refused(ErrorKind::Invalid, "not the key's content"));
        }
        let insert = |content: Vec<u8>| {
            let mut disk = self.process.disk.lock();
            disk.blobs.entry(job_id).or_default().insert(*key, content);
        };
        if self.process.fault == Fault::HalfWrittenVisible {
            insert(content[..content.len() / 2].to_vec());
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        self.check_write()?;
        insert(content);
        Ok(true)
    }

    async fn get(&self, job_id: JobId, key: &BlobKey, local_file: &Path) -> Result<bool> {
        let stored = self
            .process
            .disk
            .lock()
            .blobs
            .get(&job_id)
            .and_then(|blobs| blobs.get(key).cloned());
        let Some(content) = stored else {
            if self.process.fault == Fault::MissingIsAnError {
                return Err(refused(ErrorKind::NotFound, "no such blob"));
            }
            return Ok(false);
        };
        let verifies = !matches!(
            self.process.fault,
            Fault::ChangedContentServed | Fault::HalfWrittenVisible
        );
        if verifies && hash(&content) != *key.sha256() {
            return Err(corrupt("blobs", job_id));
        }
        std::fs::write(local_file, content).unwrap();
        Ok(true)
    }

    async fn delete(&self, job_id: JobId, key: &BlobKey) -> Result<bool> {
        self.check_write()?;
        let mut disk = self.process.disk.lock();
        let blobs = disk.blobs.get_mut(&job_id);
        Ok(blobs.is_some_and(|blobs| blobs.remove(key).is_some()))
    }

    async fn delete_all(&self, job_id: JobId) -> Result<bool> {
        self.check_write()?;
        let mut disk = self.process.disk.lock();
        let deleted = disk.blobs.remove(&job_id).is_some_and(|blobs| !blobs.is_empty());
        if self.process.fault == Fault::DeleteAllOfEveryJob {
            disk.blobs.clear();
        }
        Ok(deleted)
    }

    async fn keys(&self, job_id: JobId) -> Result<Vec<BlobKey>> {
        let disk = self.process.disk.lock();
        Ok(disk
            .blobs
            .get(&job_id)
            .map_or_else(Vec::new, |blobs| blobs.keys().copied().collect()))
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.check_write()?;
        self.process.disk.lock().blobs.clear();
        Ok(())
    }
}
