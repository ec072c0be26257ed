use ha_core::ids::JobId;

use crate::java::{Object, Reader};
use crate::undecodable::Undecodable;

const WHAT: &str = "completed checkpoint of Flink";
const CLASS: &str = "org.apache.flink.runtime.checkpoint.CompletedCheckpoint";
const JOB: &str = "org.apache.flink.api.common.JobID";

/// How many of the first bytes of a checkpoint's file are enough for [`CompletedCheckpoint::decode_prefix`]. The rest
/// is the state of operators, of any length.
pub const CHECKPOINT_PREFIX: usize = 64 << 10;

/// What the file of a completed checkpoint says of it.
///
/// Source: the fields of Flink's class of that name, which come in this order: numbers first, then the others by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedCheckpoint {
    /// Its id.
    pub id: u64,
    /// The job that made it, unless the class is of a version without it in that form.
    pub job: Option<JobId>,
    /// When it was triggered, in milliseconds since 1970-01-01 by the clock of Flink's machine.
    pub triggered_millis: u64,
    /// When it was completed, likewise.
    pub completed_millis: u64,
    /// Where its metadata are for resuming a job from it by hand, when the file says so.
    pub external_path: Option<String>,
}

impl CompletedCheckpoint {
    /// Decodes the beginning of a file; [`CHECKPOINT_PREFIX`] bytes suffice.
    ///
    /// # Errors
    /// Says what is wrong with the bytes, and at which of them.
    pub fn decode_prefix(bytes: &[u8]) -> Result<Self, Undecodable> {
        let malformed = Undecodable::stream(WHAT);
        let mut reader = Reader::new(bytes).map_err(&malformed)?;
        let wanted = [
            "checkpointID",
            "completionTimestamp",
            "timestamp",
            "externalPointer",
            "job",
        ];
        let checkpoint = reader.fields(&wanted).map_err(&malformed)?;
        if checkpoint.class != CLASS {
            return Err(Undecodable::new(WHAT, format!("it is a {}", checkpoint.class)));
        }
        let number = |field| {
            let number = checkpoint
                .integer(field)
                .and_then(|number| u64::try_from(number).ok());
            number.ok_or_else(|| Undecodable::new(WHAT, format!("it has no {field}")))
        };
        Ok(Self {
            id: number("checkpointID")?,
            job: job_id(&checkpoint, "job"),
            triggered_millis: number("timestamp")?,
            completed_millis: number("completionTimestamp")?,
            external_path: checkpoint.text("externalPointer").map(str::to_owned),
        })
    }
}

/// The job id that a field holds: its first eight bytes, then the others.
pub(crate) fn job_id(object: &Object, field: &str) -> Option<JobId> {
    let job = object.object(field, JOB)?;
    let half = |name| job.integer(name).map(i64::to_be_bytes);
    let bytes = [half("lowerPart")?, half("upperPart")?].concat();
    bytes.try_into().ok().map(JobId::from_bytes)
}

#[cfg(test)]
mod tests;
