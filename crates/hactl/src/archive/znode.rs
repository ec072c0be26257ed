use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_core::{Error, Result};
use ha_storage::{StateFile, StateKind, owner_of_state};
use ha_zookeeper::codec::Pointer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A znode that is carried: a line of `znodes.jsonl`.
///
/// ```json
/// {"jobId":"01…","jobGraph":{"format":1,"kind":"jobGraph","path":"jobgraphs/01…-…","size":9,"crc32c":7,"writeId":"…"}}
/// {"jobId":"01…","checkpoint":{"id":5,"pointer":{"format":1,"kind":"checkpoint","path":"jobs/01…","size":9,"crc32c":7,"writeId":"…"}}}
/// {"jobId":"01…","nextCheckpointId":6}
/// {"jobId":"01…","status":"RUNNING"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Znode {
    /// The pointer to a job graph.
    JobGraph(JobId, Pointer),
    /// The pointer to a checkpoint.
    Checkpoint(JobId, CheckpointId, Pointer),
    /// The id that the next checkpoint gets.
    Counter(JobId, CheckpointId),
    /// An entry of the registry.
    Status(JobId, JobSchedulingStatus),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    job_id: JobId,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum What {
    JobGraph(Value),
    Checkpoint { id: u64, pointer: Value },
    NextCheckpointId(u64),
    Status(String),
}

/// The checksum of a pointer's own text, which is made anew: here the manifest has one of all.
const SEAL: &str = "check";

impl Znode {
    pub(crate) const fn job_id(&self) -> JobId {
        match self {
            Self::JobGraph(job_id, _)
            | Self::Checkpoint(job_id, ..)
            | Self::Counter(job_id, _)
            | Self::Status(job_id, _) => *job_id,
        }
    }

    /// The file that it names.
    pub(crate) const fn file(&self) -> Option<&StateFile> {
        match self {
            Self::JobGraph(_, pointer) | Self::Checkpoint(_, _, pointer) => Some(&pointer.file),
            Self::Counter(..) | Self::Status(..) => None,
        }
    }

    /// Which znode it is, for people and to find two of one.
    pub(crate) fn name(&self) -> String {
        let job_id = self.job_id();
        match self {
            Self::JobGraph(..) => format!("the job graph of {job_id}"),
            Self::Checkpoint(_, id, _) => format!("the checkpoint {id} of {job_id}"),
            Self::Counter(..) => format!("the counter of {job_id}"),
            Self::Status(..) => format!("the registry entry of {job_id}"),
        }
    }

    /// The line, without its end.
    ///
    /// # Errors
    /// `Invalid` when a pointer is too long.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let what = match self {
            Self::JobGraph(_, pointer) => What::JobGraph(value_of(pointer)?),
            Self::Checkpoint(_, id, pointer) => What::Checkpoint {
                id: id.get(),
                pointer: value_of(pointer)?,
            },
            Self::Counter(_, next) => What::NextCheckpointId(next.get()),
            Self::Status(_, status) => What::Status(status.name().to_owned()),
        };
        let job_id = self.job_id();
        serde_json::to_vec(&Line { job_id, what }).map_err(unwritable)
    }

    /// Reads a line. The error is the reason, for people.
    pub(super) fn decode(line: &[u8]) -> std::result::Result<Self, String> {
        let Line { job_id, what } = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let id_of = |number| CheckpointId::new(number).map_err(|error| error.message().to_owned());
        Ok(match what {
            What::JobGraph(value) => Self::JobGraph(job_id, pointer_of(job_id, StateKind::JobGraph, value)?),
            What::Checkpoint { id, pointer } => {
                let pointer = pointer_of(job_id, StateKind::Checkpoint, pointer)?;
                Self::Checkpoint(job_id, id_of(id)?, pointer)
            }
            What::NextCheckpointId(next) => Self::Counter(job_id, id_of(next)?),
            What::Status(name) => {
                let status = JobSchedulingStatus::from_name(&name);
                Self::Status(job_id, status.ok_or("PENDING, RUNNING or DONE is expected")?)
            }
        })
    }
}

fn value_of(pointer: &Pointer) -> Result<Value> {
    let mut value: Value = serde_json::from_slice(&pointer.encode(ZNODE)?).map_err(unwritable)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove(SEAL);
    }
    Ok(value)
}

const ZNODE: &str = "a pointer";

fn pointer_of(job_id: JobId, kind: StateKind, mut value: Value) -> std::result::Result<Pointer, String> {
    if let Some(fields) = value.as_object_mut() {
        fields.remove(SEAL);
    }
    let pointer = Pointer::decode(ZNODE, kind, value.to_string().as_bytes())
        .map_err(|error| error.message().to_owned())?;
    if owner_of_state(kind, &pointer.file.path) != Some(job_id) {
        return Err(format!(
            "the pointer of the job {job_id} names {:?}, which is not a {kind} of that job",
            pointer.file.path
        ));
    }
    if pointer
        .terminal
        .as_ref()
        .is_some_and(|end| end.job_id() != job_id)
    {
        return Err(format!(
            "the pointer of the job {job_id} holds the end of another job"
        ));
    }
    // It must have room in a znode again.
    pointer
        .encode(ZNODE)
        .map_err(|error| error.message().to_owned())?;
    Ok(pointer)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::invalid("it cannot be written as JSON").caused_by(error)
}
