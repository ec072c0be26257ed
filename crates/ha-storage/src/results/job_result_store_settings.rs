/// How results are kept; the options `job-result-store.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResultStoreSettings {
    /// The folder of the files, a path or URI; `<storageDir>/job-results-store/<cluster-id>` when `None`.
    /// The clean-up of a cluster leaves what is in a folder of one's own choice: other clusters may share it.
    pub storage_path: Option<String>,
    /// Whether marking a result clean deletes it, after which the same job id may run again.
    pub delete_on_commit: bool,
}

impl Default for JobResultStoreSettings {
    fn default() -> Self {
        Self {
            storage_path: None,
            delete_on_commit: true,
        }
    }
}
