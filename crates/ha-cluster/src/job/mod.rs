//! What a job is: its file, its checked form, its id, and what is told about it.

mod fields;
mod files;
mod job_digest;
mod job_file;
mod job_overview;
mod job_spec;

pub use files::{check_job_files, check_sink, check_source};
pub use job_digest::JobDigest;
pub use job_file::{JobFile, MAX_JOB_FILE_LENGTH};
pub use job_overview::JobOverview;
pub use job_spec::JobSpec;
