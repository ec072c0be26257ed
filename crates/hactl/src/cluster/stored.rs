use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::{JobResultEntry, JobSchedulingStatus};
use ha_storage::{HaStorage, StateFile};
use uuid::Uuid;

/// How many state files are read, and so held in memory, at a time.
const CONCURRENCY: usize = 4;

/// A job graph that is there.
#[derive(Clone, Debug)]
pub(crate) struct StoredGraph {
    pub(crate) name: Option<String>,
    /// The pointer's znode; the file itself where there are no pointers.
    pub(crate) path: String,
    /// The state file.
    pub(crate) file: String,
    /// Of the state file, in bytes.
    pub(crate) size: u64,
    /// Whether the state file is what its pointer or its own header says; `None` where that cannot be told.
    pub(crate) readable: Option<bool>,
    /// The end that was decided, where it is recorded beside the graph.
    pub(crate) terminal: Option<Box<JobResultEntry>>,
}

/// A checkpoint that is there.
#[derive(Clone, Debug)]
pub(crate) struct StoredCheckpoint {
    pub(crate) id: CheckpointId,
    /// The pointer's znode; the file itself where there are no pointers.
    pub(crate) path: String,
    /// The state file.
    pub(crate) file: String,
    /// Of the state file, in bytes.
    pub(crate) size: u64,
    /// Of the state file, as its pointer says.
    pub(crate) crc32c: Option<u32>,
    /// Of the write that published it.
    pub(crate) write_id: Option<Uuid>,
    /// When it was published.
    pub(crate) published: u64,
    /// Where it can be resumed from by hand, when its file says so.
    pub(crate) external_path: Option<String>,
    /// Whether the state file is what its pointer or its own header says; `None` where that cannot be told.
    pub(crate) readable: Option<bool>,
}

/// What is stored about jobs, apart from results.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredJobs {
    pub(crate) graphs: BTreeMap<JobId, StoredGraph>,
    /// The checkpoints of each job that has a place for them, in the order of their ids, unverified.
    pub(crate) checkpoints: BTreeMap<JobId, Vec<CheckpointId>>,
    /// The id that the next checkpoint gets.
    pub(crate) next_checkpoint: BTreeMap<JobId, CheckpointId>,
    pub(crate) registry: BTreeMap<JobId, JobSchedulingStatus>,
    /// Whether jobs are registered at all when they begin to run. Flink does not from 1.15 on.
    pub(crate) has_registry: bool,
}

/// What tells of one job's checkpoints, apart from themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobPlace {
    /// Whether there is a job graph, readable or not.
    pub(crate) has_graph: bool,
    /// The id that the next checkpoint gets.
    pub(crate) next_checkpoint: Option<CheckpointId>,
}

/// Reads the state files that pointers name, each whole, and verifies them. In the order of `files`. What they hold
/// is dropped at once: a file may be large.
pub(crate) async fn verify_states(storage: &HaStorage, files: Vec<StateFile>) -> Vec<Result<()>> {
    stream::iter(files)
        .map(|file| async move { storage.get_state(&file).await.map(drop) })
        .buffered(CONCURRENCY)
        .collect()
        .await
}

/// A name that is not one of the layout.
pub(crate) fn foreign(name: &str, path: &str, expected: &str) -> BrokenEntry {
    BrokenEntry {
        name: name.to_owned(),
        path: path.to_owned(),
        reason: format!("the name is foreign: {expected} is expected"),
        candidates: Vec::new(),
    }
}
