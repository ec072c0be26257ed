//! The end of clean results, where a retention is configured.

use std::collections::BTreeSet;
use std::time::SystemTime;

use ha_core::error::Result;

use super::FileSystemJobResultStore;
use super::result_file::{self, Progress, ResultName};
use crate::folder::{EntryKind, RelativePath};

impl FileSystemJobResultStore {
    /// Deletes the clean results that are older than the configured retention, by the age of their files when the
    /// storage was opened, by the store's own clock. Gives how many; none without a retention, and none in a folder
    /// that clusters share. A result with a dirty file is never deleted, nor what is no result.
    ///
    /// # Errors
    /// The first failure; what was deleted before stays deleted.
    pub async fn delete_expired_results(&self) -> Result<usize> {
        let Some(retention) = self.clean_retention else {
            return Ok(0);
        };
        if self.is_configured {
            return Ok(0);
        }
        let opened = self.storage.opened().await?;
        let until = opened.checked_sub(retention).unwrap_or(SystemTime::UNIX_EPOCH);
        let (mut clean, mut dirty) = (Vec::new(), BTreeSet::new());
        for entry in self.folder.list(&RelativePath::root()).await?.unwrap_or_default() {
            match result_file::parse(&entry.name) {
                ResultName::Of(job_id, Progress::Dirty) => drop(dirty.insert(job_id)),
                ResultName::Of(job_id, Progress::Clean) if entry.kind == EntryKind::File => {
                    clean.push((job_id, entry.last_modified));
                }
                _ => {}
            }
        }
        let mut deleted = 0;
        for (job_id, listed) in clean.into_iter().filter(|(job_id, _)| !dirty.contains(job_id)) {
            let path = result_file::path(job_id, Progress::Clean);
            let _held = self.lock(job_id).await;
            let last_modified = match listed {
                Some(time) => Some(time),
                None => self.folder.stat(&path).await?.map(|info| info.last_modified),
            };
            if last_modified.is_some_and(|time| time <= until) {
                deleted += usize::from(self.folder.delete(&path).await?);
            }
        }
        Ok(deleted)
    }
}
