use bytes::Bytes;

use crate::ids::JobId;

/// What a cluster needs to run a job again: its id, its name, and an opaque payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobGraph {
    /// The job.
    pub job_id: JobId,
    /// Its name, for people.
    pub name: String,
    /// What the user's code understands; the HA services do not look inside.
    pub payload: Bytes,
}

/// Seed name of [`JobGraph`].
pub type StoredJobGraph = JobGraph;
