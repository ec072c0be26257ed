use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use ha_services::ids::JobId;
use serde::Serialize;

use super::JobDigest;

/// Format of the canonical form; a newer one is refused.
pub(super) const FORMAT: u64 = 1;

/// What a word-count job does. Both paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// The name, for people.
    pub name: String,
    /// The text whose words are counted.
    pub source: PathBuf,
    /// Where `word<TAB>count` lines go.
    pub sink: PathBuf,
    /// How long from one checkpoint to the next.
    pub checkpoint_interval: Duration,
    /// The pace; as fast as it can where `None`.
    pub lines_per_second: Option<u64>,
}

impl JobSpec {
    /// The canonical form: a job file of one line, the fields in a fixed order, without the id. It is what a
    /// job graph holds and what the digest is of.
    pub fn to_json(&self) -> Bytes {
        self.to_json_with(None)
    }

    /// The canonical form with the job's id, as it is posted.
    pub fn to_json_with(&self, job_id: Option<JobId>) -> Bytes {
        let canonical = Canonical {
            format: FORMAT,
            name: &self.name,
            // Both came from JSON text, so nothing is lost.
            source: self.source.to_string_lossy(),
            sink: self.sink.to_string_lossy(),
            checkpoint_interval: format!("{} ms", self.checkpoint_interval.as_millis()),
            lines_per_second: self.lines_per_second,
            job_id,
        };
        // Texts and numbers always have a JSON form.
        Bytes::from(serde_json::to_vec(&canonical).unwrap_or_default())
    }

    /// The digest of the content.
    pub fn digest(&self) -> JobDigest {
        JobDigest::of(&self.to_json())
    }
}

#[derive(Serialize)]
struct Canonical<'a> {
    format: u64,
    name: &'a str,
    source: Cow<'a, str>,
    sink: Cow<'a, str>,
    checkpoint_interval: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_per_second: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<JobId>,
}
