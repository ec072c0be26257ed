//! Results of ended jobs, one JSON file a job.

mod codec;
mod file_system_job_result_store;
mod folder_watch;
mod job_result_store_settings;
mod removal;
mod result_file;
mod retention;
mod writing;

pub(crate) use codec::{MAX_FILE as MAX_RESULT_FILE, check as check_result};
pub use file_system_job_result_store::FileSystemJobResultStore;
pub use job_result_store_settings::JobResultStoreSettings;
pub use removal::{LeftResults, ResultFiles};
pub(crate) use result_file::{Progress, ResultName, parse as parse_result_name};

#[cfg(test)]
mod tests;
