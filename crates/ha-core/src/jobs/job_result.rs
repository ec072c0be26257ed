use std::fmt;

use serde::{Deserialize, Serialize};

use super::JobStatus;
use crate::ids::JobId;

/// How a job ended, with Flink's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ApplicationStatus {
    /// Well.
    Succeeded,
    /// By a failure.
    Failed,
    /// By a user.
    Canceled,
    /// It is known that it ended, not how.
    Unknown,
}

impl ApplicationStatus {
    /// The status of the job, where it is known.
    pub fn job_status(self) -> Option<JobStatus> {
        match self {
            Self::Succeeded => Some(JobStatus::Finished),
            Self::Failed => Some(JobStatus::Failed),
            Self::Canceled => Some(JobStatus::Canceled),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for ApplicationStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
            Self::Unknown => "UNKNOWN",
        })
    }
}

/// The end of a job. Field names in JSON are Flink's where it has them; unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct JobResult {
    /// The job.
    #[serde(rename = "id")]
    pub job_id: JobId,
    /// Its name, for people.
    #[serde(default)]
    pub name: String,
    /// How it ended.
    pub application_status: ApplicationStatus,
    /// How long it ran, in milliseconds, over all attempts that this result's writer knows of.
    pub net_runtime: u64,
    /// When it ended, in milliseconds since 1970, for people only.
    #[serde(default)]
    pub end_time: u64,
    /// Why it failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_cause: Option<String>,
}

/// A result as it is recorded: the end of the job, and the digest of what was submitted, by which the same job
/// submitted again is told from another one under the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResultEntry {
    /// The end.
    pub result: JobResult,
    /// The digest of the submitted content, where the submitter gave one.
    pub job_digest: Option<String>,
}

impl JobResultEntry {
    /// The job.
    pub fn job_id(&self) -> JobId {
        self.result.job_id
    }
}
