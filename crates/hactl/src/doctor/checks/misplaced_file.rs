use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files;
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-misplaced-file";

/// A pointer to a place where no file of its job may be.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    named_files::find(snapshot, |pointer, named| {
        (named.state == FileState::Misplaced).then(|| {
            let (file, job) = (&named.file, pointer.job_id);
            let found = format!("it names {file:?}, which is no place of a file of the job {job}");
            Finding::new(ID, Severity::Error, found)
                .because(snapshot.own_or_flinks(
                    "the file is not read: it may be another job's, or lie outside the cluster's folder",
                    "it lies outside the cluster's folder: high-availability.storageDir or cluster-id is not that of this cluster, or the pointer was moved",
                ))
                .advise(snapshot.own_or_flinks(
                    "put the pointer's data back from a copy; find out what wrote this",
                    "give this command the storageDir and cluster-id of that cluster; where they are right, find out what wrote this",
                ))
        })
    })
}
