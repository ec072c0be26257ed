use ha_services::ids::{CheckpointId, JobId};
use ha_services::jobs::{JobResult, JobStatus};
use serde::{Deserialize, Serialize};

/// What is told about a job over REST.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobOverview {
    /// The job.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Its status; a suspended job is reported as created.
    pub status: JobStatus,
    /// How many bytes of the source are counted; unknown once the job has ended.
    pub progress_bytes: Option<u64>,
    /// How many there are.
    pub total_bytes: Option<u64>,
    /// The newest acknowledged checkpoint.
    pub latest_checkpoint_id: Option<CheckpointId>,
    /// The checkpoint that the present attempt started from.
    pub restored_checkpoint_id: Option<CheckpointId>,
    /// The address of the leading job manager.
    pub leader: Option<String>,
    /// Why it failed, or what it waits for.
    pub reason: Option<String>,
}

impl JobOverview {
    /// A job that was accepted and does not run yet.
    pub fn created(id: JobId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            status: JobStatus::Created,
            progress_bytes: None,
            total_bytes: None,
            latest_checkpoint_id: None,
            restored_checkpoint_id: None,
            leader: None,
            reason: None,
        }
    }

    /// A job that has ended, by its recorded result. An end of which only the fact is known counts as failed,
    /// with that as its reason.
    pub fn ended(result: &JobResult) -> Self {
        let status = result.application_status.job_status();
        Self {
            status: status.unwrap_or(JobStatus::Failed),
            reason: match status {
                Some(_) => result.failure_cause.clone(),
                None => Some("the job has ended; how is not known".to_owned()),
            },
            ..Self::created(result.job_id, &result.name)
        }
    }
}
