use ha_services::ids::JobId;
use ha_services::jobs::{ApplicationStatus, JobResult, JobResultEntry};

use super::JobHandle;

/// The longest recorded cause of a failure, in characters: a result has its place in a znode.
const MAX_CAUSE_LENGTH: usize = 1000;

/// How a job is about to end; decided only when it is recorded.
#[derive(Clone, Debug)]
pub(super) struct JobOutcome {
    pub(super) status: ApplicationStatus,
    pub(super) cause: Option<String>,
    pub(super) run_millis: u64,
}

impl JobOutcome {
    pub(super) fn canceled(run_millis: u64) -> Self {
        Self {
            status: ApplicationStatus::Canceled,
            cause: None,
            run_millis,
        }
    }

    pub(super) fn failed(cause: &dyn std::fmt::Display, run_millis: u64) -> Self {
        Self {
            status: ApplicationStatus::Failed,
            cause: Some(cause.to_string().chars().take(MAX_CAUSE_LENGTH).collect()),
            run_millis,
        }
    }

    /// The entry of the job result store.
    pub(super) fn to_entry(&self, job: &JobHandle, end_time: u64) -> JobResultEntry {
        let job_id: JobId = job.id();
        JobResultEntry {
            result: JobResult {
                job_id,
                name: job.spec().name.clone(),
                application_status: self.status,
                net_runtime: self.run_millis,
                end_time,
                failure_cause: self.cause.clone(),
            },
            job_digest: Some(job.digest().as_str().to_owned()),
        }
    }
}
