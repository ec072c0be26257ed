use ha_core::configuration::{Configuration, JobResultStoreOptions};
use ha_core::error::Result;

use crate::StorageDirectory;

/// How results are kept; the options `job-result-store.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResultStoreSettings {
    /// The folder of the files, a path or URI; `<storageDir>/job-results-store/<cluster-id>` when `None`.
    /// The clean-up of a cluster leaves what is in a folder of one's own choice: other clusters may share it.
    pub storage_path: Option<StorageDirectory>,
    /// Whether marking a result clean deletes it, after which the same job id may run again.
    pub delete_on_commit: bool,
}

impl JobResultStoreSettings {
    /// What a configuration says.
    ///
    /// # Errors
    /// `Invalid` when an option cannot be read.
    pub fn from_configuration(configuration: &Configuration) -> Result<Self> {
        Ok(Self {
            storage_path: StorageDirectory::configured(configuration, &JobResultStoreOptions::STORAGE_PATH)?,
            delete_on_commit: configuration.get(&JobResultStoreOptions::DELETE_ON_COMMIT)?,
        })
    }
}

impl Default for JobResultStoreSettings {
    fn default() -> Self {
        Self {
            storage_path: None,
            delete_on_commit: true,
        }
    }
}
