use bytes::Bytes;

use crate::ids::{CheckpointId, JobId};

/// A checkpoint that is complete: its metadata, opaque to the HA services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedCheckpoint {
    /// The job.
    pub job_id: JobId,
    /// Its id, from the job's counter.
    pub checkpoint_id: CheckpointId,
    /// When it completed, in milliseconds since 1970, for people only.
    pub timestamp: u64,
    /// What the job recovers from.
    pub payload: Bytes,
}
