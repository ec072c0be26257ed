use crate::configuration::{ConfigOption, storage_uri};

/// The options of the job result store.
pub struct JobResultStoreOptions;

impl JobResultStoreOptions {
    /// Where results are.
    pub const STORAGE_PATH: ConfigOption<String> = ConfigOption::new(
        "job-result-store.storage-path",
        "the directory of the job results, a path or a URI as of high-availability.storageDir",
    )
    .derived_default("<storageDir>/job-results-store/<cluster-id>")
    .checked_by(storage_uri::check);

    /// Whether a result goes with the clean-up of its job.
    pub const DELETE_ON_COMMIT: ConfigOption<bool> = ConfigOption::new(
        "job-result-store.delete-on-commit",
        "whether the result of a job is deleted once the job is cleaned up, so that its id may run again",
    )
    .default_text("true")
    .cluster_default("false");
}
