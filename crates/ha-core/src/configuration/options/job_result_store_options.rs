use std::time::Duration;

use super::checks;
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

    /// How long clean results are kept.
    pub const CLEAN_RETENTION: ConfigOption<Duration> = ConfigOption::new(
        "job-result-store.clean-retention",
        "how long the result of a cleaned-up job is kept, by the age of its file; older ones are deleted when a process opens its services, and their ids may run again; not with job-result-store.storage-path",
    )
    .derived_default("for ever")
    .checked_by(checks::positive);
}
