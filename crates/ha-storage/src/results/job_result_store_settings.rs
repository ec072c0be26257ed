use std::time::Duration;

use ha_core::configuration::{Configuration, JobResultStoreOptions};
use ha_core::error::{Error, Result};

use crate::StorageDirectory;

/// How results are kept; the options `job-result-store.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResultStoreSettings {
    /// The folder of the files, a path or URI; `<storageDir>/job-results-store/<cluster-id>` when `None`.
    /// The clean-up of a cluster leaves what is in a folder of one's own choice: other clusters may share it.
    pub storage_path: Option<StorageDirectory>,
    /// Whether marking a result clean deletes it, after which the same job id may run again.
    pub delete_on_commit: bool,
    /// How long clean results are kept; for ever when `None`. Only in the default folder: in one that clusters share
    /// nothing says whose they are.
    pub clean_retention: Option<Duration>,
}

impl JobResultStoreSettings {
    /// What a configuration says.
    ///
    /// # Errors
    /// `Invalid` when an option cannot be read, or a retention is set for a folder of one's own choice.
    pub fn from_configuration(configuration: &Configuration) -> Result<Self> {
        let storage_path = StorageDirectory::configured(configuration, &JobResultStoreOptions::STORAGE_PATH)?;
        let clean_retention = configuration.get_optional(&JobResultStoreOptions::CLEAN_RETENTION)?;
        if storage_path.is_some() && clean_retention.is_some() {
            return Err(Error::invalid(format!(
                "results are not deleted by age where {} is set: other clusters may share the folder",
                JobResultStoreOptions::STORAGE_PATH.key()
            ))
            .at(JobResultStoreOptions::CLEAN_RETENTION.key())
            .advise("keep one of the two options"));
        }
        Ok(Self {
            storage_path,
            delete_on_commit: configuration.get(&JobResultStoreOptions::DELETE_ON_COMMIT)?,
            clean_retention,
        })
    }
}

impl Default for JobResultStoreSettings {
    fn default() -> Self {
        Self {
            storage_path: None,
            delete_on_commit: true,
            clean_retention: None,
        }
    }
}
