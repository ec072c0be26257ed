use std::fmt;

use serde::{Deserialize, Serialize};

/// What a state file holds; it stands in its header and in its pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StateKind {
    /// A job graph: `jobgraphs/<job-id>-<uuid>`, or `jobgraphs/<job-id>.job` in the file-backed store.
    JobGraph,
    /// A completed checkpoint: `jobs/<job-id>/checkpoints/<19-digit id>-<uuid>`.
    Checkpoint,
    /// The file-backed counter of checkpoint ids: `jobs/<job-id>/counter`.
    CheckpointIdCounter,
    /// An entry of the file-backed registry: `running_job_registry/<job-id>`.
    RunningJob,
}

impl StateKind {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [
        Self::JobGraph,
        Self::Checkpoint,
        Self::CheckpointIdCounter,
        Self::RunningJob,
    ];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobGraph => "jobGraph",
            Self::Checkpoint => "checkpoint",
            Self::CheckpointIdCounter => "checkpointIdCounter",
            Self::RunningJob => "runningJob",
        }
    }
}

impl fmt::Display for StateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
