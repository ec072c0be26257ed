//! The removal of a whole cluster's files.

use ha_core::environment::steps;
use ha_core::error::Result;
use ha_core::ids::JobId;

use super::HaStorage;
use crate::folder::{RelativePath, TemporaryFile};
use crate::state::StateKind;
use crate::state::state_path::{self, BLOBS, IDENTITY, JOB_GRAPHS, JOBS, REGISTRY, layout};

/// The folders in a cluster's folder.
const FOLDERS: [&str; 4] = [JOB_GRAPHS, JOBS, REGISTRY, BLOBS];

/// The files of a cluster at one moment, without identity.json: what a clean-up that began then may delete.
#[derive(Clone, Debug, Default)]
pub struct ClusterFiles {
    files: Vec<RelativePath>,
    temporary: Vec<TemporaryFile>,
}

/// What interrupted writes left in the folders of one job, at one moment.
#[derive(Clone, Debug, Default)]
pub struct JobLeftovers(Vec<TemporaryFile>);

impl HaStorage {
    /// The temporary files of a job: checkpoints, counter and blobs that were being written when their process
    /// ended. To be asked once the job has ended, when nobody writes there.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub async fn job_leftovers(&self, owner: JobId) -> Result<JobLeftovers> {
        let mut found = JobLeftovers::default();
        for folder in [
            state_path::checkpoint_folder(owner),
            state_path::job_folder(owner),
            state_path::blob_folder(owner),
        ] {
            found.0.extend(self.folder().temporary_files(&folder).await?);
        }
        Ok(found)
    }

    /// Deletes these files, and the folders of the job that are empty then. Idempotent.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_job_leftovers(&self, owner: JobId, leftovers: &JobLeftovers) -> Result<()> {
        for file in &leftovers.0 {
            self.folder().delete_temporary(file, None).await?;
        }
        self.tidy_job(owner).await;
        self.folder()
            .remove_if_empty(&state_path::blob_folder(owner))
            .await;
        Ok(())
    }

    /// Every file of this cluster's folder that is of its layout, but identity.json.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`, `Corrupt` where something else stands in the place of a folder.
    pub async fn cluster_files(&self) -> Result<ClusterFiles> {
        let mut found = ClusterFiles::default();
        for kind in StateKind::ALL {
            for state in self.list_states(kind, None).await? {
                found.files.push(state_path::parse(kind, &state.path)?.0);
            }
        }
        for owner in self.job_folders(BLOBS).await? {
            found.files.extend(self.blob_files(owner).await?);
        }
        for folder in self.all_folders().await? {
            found
                .temporary
                .extend(self.folder().temporary_files(&folder).await?);
        }
        Ok(found)
    }

    /// Deletes these files, and the folders that are empty then; nothing that was put since. Idempotent.
    ///
    /// Gives the paths of what is left there, foreign entries for instance. Where the cluster was made anew
    /// meanwhile, its own files are not among them.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_files(&self, files: &ClusterFiles) -> Result<Vec<String>> {
        let (root, environment) = (self.folder(), self.environment());
        for path in &files.files {
            let deleting = root.delete(path);
            environment.step(steps::REMOVE_CLUSTER_FILE, deleting).await?;
        }
        for file in &files.temporary {
            root.delete_temporary(file, None).await?;
        }
        for owner in self.job_folders(JOBS).await? {
            self.tidy_job(owner).await;
        }
        for owner in self.job_folders(BLOBS).await? {
            root.remove_if_empty(&state_path::blob_folder(owner)).await;
        }
        for folder in FOLDERS {
            root.remove_if_empty(&layout([folder])).await;
        }
        root.remove_if_empty(&RelativePath::root()).await;
        let left = root.list(&RelativePath::root()).await?.unwrap_or_default();
        let is_new = left.iter().any(|entry| entry.name == IDENTITY);
        Ok(left
            .iter()
            .filter(|entry| !is_new || !(entry.name == IDENTITY || FOLDERS.contains(&entry.name.as_str())))
            .map(|entry| self.display(&entry.name))
            .collect())
    }

    /// Deletes every file of this cluster's folder that is of its layout, and the folders that are empty then.
    /// Nothing else is touched. Idempotent. For one process that has the folder for itself.
    ///
    /// Gives the paths of what is left there, foreign entries for instance.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn delete_cluster_files(&self) -> Result<Vec<String>> {
        let files = self.cluster_files().await?;
        self.delete_identity().await?;
        self.delete_files(&files).await
    }
}
