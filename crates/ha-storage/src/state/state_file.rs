use std::collections::BTreeMap;

use bytes::Bytes;
use ha_core::ids::JobId;

use super::StateKind;

/// Names one state file exactly: what a pointer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    /// What it holds.
    pub kind: StateKind,
    /// Relative to `<storageDir>/<cluster-id>`.
    pub path: String,
    /// Of the whole file, in bytes.
    pub size: u64,
    /// CRC-32C of the whole file.
    pub crc32c: u32,
}

/// What a state file holds, verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The job that it belongs to; whoever follows a pointer compares it with the job that he asked for.
    pub owner: JobId,
    /// Small named values beside the payload.
    pub attributes: BTreeMap<String, String>,
    /// The payload.
    pub payload: Bytes,
}
