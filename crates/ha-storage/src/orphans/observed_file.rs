use std::time::SystemTime;

use ha_core::ids::JobId;

/// What the name of a file says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A job graph that a pointer names: `jobgraphs/<job-id>-<uuid>`.
    JobGraph,
    /// A checkpoint: `jobs/<job-id>/checkpoints/<19-digit id>-<uuid>`. A pointer names it; in the file-backed store it
    /// is state and pointer in one.
    Checkpoint,
    /// A file of the file-backed stores that is state and pointer in one: a job graph `<job-id>.job`, a counter, or
    /// an entry of the registry.
    FileBacked,
    /// A blob. It is kept as long as its job is known.
    Blob,
    /// The result of a job.
    Result,
    /// What a write that was not put in place left: an upload, or the store's own `name#1`.
    Temporary,
}

/// A file as an observation found it, unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedFile {
    /// What its name says.
    pub kind: FileKind,
    /// The job that its place or name says it belongs to; `None` for what belongs to no job.
    pub owner: Option<JobId>,
    /// Relative to the cluster's folder, as a pointer would name it; for what lies in the folder of the results,
    /// relative to that.
    pub path: String,
    /// Where it is, for people.
    pub place: String,
    /// In bytes.
    pub size: u64,
    /// By the store's own clock.
    pub last_modified: SystemTime,
}

/// What is in the cluster's folders and not of their layout. Never touched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignFile {
    /// Where it is, for people.
    pub place: String,
    /// Why it is none of ours.
    pub reason: String,
}
