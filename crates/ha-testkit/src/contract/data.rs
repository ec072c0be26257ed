use bytes::Bytes;
use ha_core::checkpoints::CompletedCheckpoint;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::{ApplicationStatus, JobGraph, JobResult, JobResultEntry};

/// The id of the job of this number.
pub fn job(number: u8) -> JobId {
    JobId::from_bytes([number; 16])
}

/// A job graph with this payload.
pub fn graph(job_id: JobId, payload: &str) -> JobGraph {
    JobGraph {
        job_id,
        name: format!("job with the payload {payload:?}"),
        payload: Bytes::copy_from_slice(payload.as_bytes()),
    }
}

/// The checkpoint id of this number.
pub fn checkpoint_id(number: u64) -> CheckpointId {
    CheckpointId::new(number).expect("the number is in range")
}

/// A checkpoint of a job, with a payload that names both.
pub fn checkpoint(job_id: JobId, number: u64) -> CompletedCheckpoint {
    CompletedCheckpoint {
        job_id,
        checkpoint_id: checkpoint_id(number),
        timestamp: 1_000 + number,
        payload: Bytes::from(format!("checkpoint {number} of {job_id}\n\0\u{e9}")),
    }
}

/// The end of a job.
pub fn ended(job_id: JobId, application_status: ApplicationStatus) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id,
            name: "word \"count\" \u{e9}".to_owned(),
            application_status,
            net_runtime: 12_345,
            end_time: 1_700_000_000_000,
            failure_cause: (application_status == ApplicationStatus::Failed)
                .then(|| "line 1\nline 2".to_owned()),
        },
        job_digest: Some("0f".repeat(32)),
    }
}
