//! The removal of a cluster's results.

use ha_core::error::Result;

use super::FileSystemJobResultStore;
use super::result_file::{self, ResultName};
use crate::folder::{EntryKind, RelativePath, TemporaryFile, is_temporary};

/// The results of a cluster at one moment: what a clean-up that began then may delete, and what it leaves.
#[derive(Clone, Debug, Default)]
pub struct ResultFiles {
    files: Vec<RelativePath>,
    temporary: Vec<TemporaryFile>,
    /// Paths for people.
    left: Vec<String>,
}

impl FileSystemJobResultStore {
    /// Every result file. Those in a configured folder are not to be deleted: no name there says which of the
    /// clusters that share it they belong to.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn result_files(&self) -> Result<ResultFiles> {
        let root = RelativePath::root();
        let mut found = ResultFiles::default();
        for entry in self.folder.list(&root).await?.unwrap_or_default() {
            match result_file::parse(&entry.name) {
                ResultName::Of(job_id, progress) if entry.kind == EntryKind::File && !self.is_configured => {
                    found.files.push(result_file::path(job_id, progress));
                }
                _ if is_temporary(&entry.name) => {}
                _ => found.left.push(format!("{}/{}", self.place(), entry.name)),
            }
        }
        if !self.is_configured {
            found.temporary = self.folder.temporary_files(&root).await?;
        }
        Ok(found)
    }

    /// Deletes these files, and the folder if it is empty then; nothing that was recorded since. Gives the paths
    /// of what is left of them: foreign files, and all results in a configured folder. Idempotent.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_files(&self, files: ResultFiles) -> Result<Vec<String>> {
        for path in &files.files {
            self.folder.delete(path).await?;
        }
        for file in &files.temporary {
            self.folder.delete_temporary(file, None).await?;
        }
        if !self.is_configured {
            self.folder.remove_if_empty(&RelativePath::root()).await;
        }
        Ok(files.left)
    }

    /// Deletes every result file of this cluster; see [`FileSystemJobResultStore::result_files`] and
    /// [`FileSystemJobResultStore::delete_files`].
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_all_results(&self) -> Result<Vec<String>> {
        let files = self.result_files().await?;
        self.delete_files(files).await
    }
}
