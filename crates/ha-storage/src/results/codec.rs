//! The JSON of a result file (design §7): Flink's names where it has them.

use ha_core::error::{Error, Result};
use ha_core::ids::JobId;
use ha_core::jobs::{JobResult, JobResultEntry};
use serde::{Deserialize, Serialize};

const VERSION: u64 = 1;
/// Longest result file, in bytes.
pub(crate) const MAX_FILE: u64 = 16 << 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    result: &'a JobResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_digest: Option<&'a str>,
    version: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    result: JobResult,
    #[serde(default)]
    job_digest: Option<String>,
}

/// The field that is read before all others: a newer version may have changed them.
#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
}

/// The whole file.
///
/// # Errors
/// `Invalid` when it is too long.
pub(super) fn encode(entry: &JobResultEntry) -> Result<Vec<u8>> {
    let written = Written {
        result: &entry.result,
        job_digest: entry.job_digest.as_deref(),
        version: VERSION,
    };
    let bytes = serde_json::to_vec(&written)
        .map_err(|error| Error::invalid("the result cannot be written as JSON").caused_by(error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::invalid(format!(
            "the result of the job {} has {} bytes, at most {MAX_FILE} are allowed",
            entry.job_id(),
            bytes.len()
        )));
    }
    Ok(bytes)
}

/// That it is the result of `job_id`, of the version that is read here. The error is the reason, for people.
pub(crate) fn check(bytes: &[u8], job_id: JobId) -> Result<(), String> {
    decode(bytes, job_id).map(drop)
}

/// Reads the result of `job_id`. The error is the reason, for people.
pub(super) fn decode(bytes: &[u8], job_id: JobId) -> Result<JobResultEntry, String> {
    if bytes.is_empty() {
        return Err("the file is empty".to_owned());
    }
    let versioned: Versioned =
        serde_json::from_slice(bytes).map_err(|error| format!("it is torn or foreign: {error}"))?;
    match versioned.version {
        Some(VERSION) => {}
        Some(version) => return Err(format!("it has version {version}, this program reads {VERSION}")),
        None => return Err("it names no version, so it is foreign".to_owned()),
    }
    let read: Read = serde_json::from_slice(bytes).map_err(|error| format!("it is no result: {error}"))?;
    if read.result.job_id != job_id {
        return Err(format!("it is the result of another job, {}", read.result.job_id));
    }
    Ok(JobResultEntry {
        result: read.result,
        job_digest: read.job_digest,
    })
}
