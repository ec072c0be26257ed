use ha_core::Result;
use ha_core::ids::{CheckpointId, JobId};

use super::{Plan, Progress, View, accept_empty_tree, cleanup, forget, gc, restore};

/// A command that changes a cluster while none of its processes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WritingCommand {
    /// Deletes orphans.
    Gc {
        /// Also where the tree has no pointer at all.
        accepts_no_pointers: bool,
    },
    /// Removes a job.
    Forget(JobId),
    /// Removes the cluster, or what is left of ended jobs.
    Cleanup {
        /// The latter.
        ended_jobs: bool,
    },
    /// Makes an older checkpoint the newest one.
    RestoreCheckpoint(JobId, CheckpointId),
    /// Takes the mark of a lost tree out.
    AcceptEmptyTree,
}

impl WritingCommand {
    /// Its words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gc { .. } => "gc",
            Self::Forget(_) => "job forget",
            Self::Cleanup { .. } => "cleanup",
            Self::RestoreCheckpoint(..) => "checkpoint restore",
            Self::AcceptEmptyTree => "doctor --accept-empty-tree",
        }
    }

    /// What it would do now.
    pub(super) async fn plan(&self, view: &View, progress: &Progress) -> Result<Plan> {
        match self {
            Self::Gc { accepts_no_pointers } => gc::plan(view, *accepts_no_pointers, progress).await,
            Self::Forget(job_id) => forget::plan(view, *job_id).await,
            Self::Cleanup { ended_jobs: false } => cleanup::plan_all(view).await,
            Self::Cleanup { ended_jobs: true } => cleanup::plan_ended_jobs(view).await,
            Self::RestoreCheckpoint(job_id, id) => restore::plan(view, *job_id, *id).await,
            Self::AcceptEmptyTree => accept_empty_tree::plan(view).await,
        }
    }
}
