//! The removal of a cluster's results.

use std::time::{Duration, SystemTime};

use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};

use super::FileSystemJobResultStore;
use super::result_file::{self, Progress, ResultName};
use crate::folder::{
    DurableFolder, EntryKind, RelativePath, TemporaryFile, is_temporary, target_of_temporary,
};

/// The results of a cluster at one moment: what a clean-up that began then may delete, and what it leaves.
#[derive(Clone, Debug, Default)]
pub struct ResultFiles {
    /// With their versions: the name of a result is that of a later one too.
    files: Vec<(RelativePath, String)>,
    temporary: Vec<TemporaryFile>,
    left: LeftResults,
}

/// What a clean-up leaves in the folder of the results, by paths for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftResults {
    /// What is no result.
    pub foreign: Vec<String>,
    /// Results in a configured folder, which may be another cluster's.
    pub shared: Vec<String>,
}

impl LeftResults {
    /// Fails unless nothing was left by the clean-up of a cluster: neither here nor of `others`, the foreign
    /// paths of other places.
    ///
    /// # Errors
    /// `Conflict`, naming each path and why it stays. All else was removed.
    pub fn none_beside(self, others: Vec<String>, place: &str) -> Result<()> {
        let foreign: Vec<_> = others.into_iter().chain(self.foreign).collect();
        let mut reasons = Vec::new();
        let mut advice = Vec::new();
        if !foreign.is_empty() {
            reasons.push(format!("what is not of its layout: {}", foreign.join(", ")));
            advice.push("look at what is not of the layout, and remove it by hand if it is not needed");
        }
        if !self.shared.is_empty() {
            reasons.push(format!(
                "the results in the configured folder, which other clusters may share: {}",
                self.shared.join(", ")
            ));
            advice.push(
                "remove the results of this cluster's jobs by hand: as long as they are there, no job runs again under these ids",
            );
        }
        match foreign.first().or(self.shared.first()) {
            None => Ok(()),
            Some(_) => Err(Error::new(
                ErrorKind::Conflict,
                format!("all of the cluster was removed but {}", reasons.join("; and ")),
            )
            .at(place)
            .advise(advice.join("; "))),
        }
    }
}

impl FileSystemJobResultStore {
    /// Deletes what writes of ended processes left: files under temporary names, and dirty results beside clean
    /// ones, that were older than `age` when the storage was opened, by the store's own clock. Gives how many were
    /// deleted. In a configured folder only temporary files of results are: the others may be anybody's.
    ///
    /// # Errors
    /// The first failure.
    pub async fn sweep_temporary_files(&self, age: Duration) -> Result<usize> {
        let now = self.storage.opened().await?;
        let until = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut swept = self.sweep_marked(until).await?;
        for file in self.folder.temporary_files(&RelativePath::root()).await? {
            if self.owns(file.name()) {
                swept += usize::from(self.folder.delete_temporary(&file, Some(until)).await?);
            }
        }
        Ok(swept)
    }

    /// The folder of the results.
    pub(crate) const fn folder(&self) -> &DurableFolder {
        &self.folder
    }

    /// Whether a name that is no result's belongs to this cluster: in a configured folder, which others may share,
    /// only what interrupted writes of results left does.
    pub(crate) fn owns(&self, name: &str) -> bool {
        let is_of_a_result = target_of_temporary(name)
            .is_some_and(|name| matches!(result_file::parse(name), ResultName::Of(..)));
        is_of_a_result || !self.is_configured
    }

    /// Deletes dirty files beside a clean one, last modified at `until` or before: a marking that was cut off
    /// between its two steps left them, or a deposed process. Both there means clean, so nobody needs them.
    async fn sweep_marked(&self, until: SystemTime) -> Result<usize> {
        let mut swept = 0;
        for entry in self.folder.list(&RelativePath::root()).await?.unwrap_or_default() {
            let ResultName::Of(job_id, Progress::Dirty) = result_file::parse(&entry.name) else {
                continue;
            };
            if entry.kind != EntryKind::File {
                continue;
            }
            let _held = self.lock(job_id).await;
            let [dirty, clean] = [Progress::Dirty, Progress::Clean].map(|of| result_file::path(job_id, of));
            let is_old = matches!(self.folder.stat(&dirty).await?, Some(info) if info.last_modified <= until);
            if is_old && self.folder.stat(&clean).await?.is_some() && self.is_readable_clean(job_id).await {
                swept += usize::from(self.folder.delete(&dirty).await?);
            }
        }
        Ok(swept)
    }

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
                ResultName::Of(job_id, progress) if entry.kind == EntryKind::File => {
                    match self.is_configured {
                        true => found.left.shared.push(format!("{}/{}", self.place(), entry.name)),
                        false => {
                            let path = result_file::path(job_id, progress);
                            let info = self.folder.stat(&path).await?;
                            found.files.extend(info.map(|info| (path, info.version)));
                        }
                    }
                }
                _ if is_temporary(&entry.name) => {}
                _ => found
                    .left
                    .foreign
                    .push(format!("{}/{}", self.place(), entry.name)),
            }
        }
        if !self.is_configured {
            found.temporary = self.folder.temporary_files(&root).await?;
        }
        Ok(found)
    }

    /// Deletes these files, and the folder if it is empty then; nothing that was recorded since. Gives what
    /// is left of them: foreign files, and all results in a configured folder. Idempotent.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_files(&self, files: ResultFiles) -> Result<LeftResults> {
        for (path, version) in &files.files {
            let now = self.folder.stat(path).await?;
            if now.is_some_and(|now| now.version != *version) {
                continue;
            }
            let deleting = self.folder.delete(path);
            let environment = self.folder.environment();
            environment.step(steps::REMOVE_CLUSTER_RESULT, deleting).await?;
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
    pub async fn delete_all_results(&self) -> Result<LeftResults> {
        let files = self.result_files().await?;
        self.delete_files(files).await
    }
}
