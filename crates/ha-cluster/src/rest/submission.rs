use ha_services::ids::JobId;
use ha_services::jobs::{JobResult, JobStatus};
use serde::{Deserialize, Serialize};

use crate::dispatcher::Submitted;
use crate::job::JobOverview;

/// The answer to `POST /v1/jobs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Submission {
    /// The job.
    pub id: JobId,
    /// Its recorded end, when it had ended before: it is not run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RecordedEnd>,
}

/// The end of a job that was recorded before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEnd {
    /// How it ended: `FINISHED`, `FAILED` or `CANCELED`.
    pub status: JobStatus,
    /// When, in milliseconds since 1970.
    pub end_time: u64,
}

impl From<&JobResult> for RecordedEnd {
    fn from(result: &JobResult) -> Self {
        Self {
            status: JobOverview::ended(result).status,
            end_time: result.end_time,
        }
    }
}

impl From<Submitted> for Submission {
    fn from(submitted: Submitted) -> Self {
        Self {
            id: submitted.id,
            ended: submitted.ended.as_ref().map(RecordedEnd::from),
        }
    }
}
