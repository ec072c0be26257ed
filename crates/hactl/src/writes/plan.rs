use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_storage::{ObservedFile, StateFile};
use ha_zookeeper::client::Operation;
use ha_zookeeper::fence::Proof;

use super::Change;

/// What a command would do, or does: steps in their order, each of one or several changes.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// What people are told beside it.
    pub(crate) notes: Vec<String>,
    /// What is left as it is.
    pub(crate) broken: Vec<BrokenEntry>,
}

/// What is done at once.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) changes: Vec<Change>,
    pub(crate) work: Work,
}

/// How a step is done.
#[derive(Debug)]
pub(crate) enum Work {
    /// These znodes are deleted in one multi; those that are gone are left out.
    DeleteZnodes,
    /// One multi, all or nothing.
    Multi {
        /// One operation a change.
        operations: Vec<Operation>,
        /// What proves it when the answer is lost.
        proof: Proof,
    },
    /// A file is deleted, if it still is the one that was looked at.
    DeleteFile(ObservedFile),
    /// A checkpoint is written again under the next id: its file, then in one multi its pointer and the counter.
    RestoreCheckpoint(Box<Restoration>),
    /// The file of an end that the job graph's pointer records is written.
    RecordEnd(JobId),
    /// The clean-up of an ended job is recorded: its result becomes a clean one.
    MarkClean(JobId),
    /// What is left when all jobs are gone: the identities, and the nodes above.
    RemoveRest,
}

/// What is restored.
#[derive(Debug)]
pub(crate) struct Restoration {
    pub(crate) job_id: JobId,
    /// The file of the checkpoint that was chosen.
    pub(crate) source: StateFile,
    /// The name of the new one: 19 digits.
    pub(crate) name: String,
    /// Its pointer's znode.
    pub(crate) pointer: String,
    /// What moves the counter behind it.
    pub(crate) counter: Operation,
}

impl Plan {
    /// Adds the deletion of znodes, at most 100 a multi.
    pub(crate) fn delete_znodes(&mut self, changes: Vec<Change>) {
        const MAX_DELETIONS: usize = 100;
        for chunk in changes.chunks(MAX_DELETIONS) {
            self.steps.push(Step {
                changes: chunk.to_vec(),
                work: Work::DeleteZnodes,
            });
        }
    }

    /// Adds the deletion of a file.
    pub(crate) fn delete_file(&mut self, file: ObservedFile) {
        self.steps.push(Step {
            changes: vec![Change::delete_file(&file)],
            work: Work::DeleteFile(file),
        });
    }
}
