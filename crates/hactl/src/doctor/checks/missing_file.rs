use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files::{self, FLINKS};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-missing-file";

/// A pointer whose file is missing.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    named_files::find(snapshot, |_, named| {
        (named.state == FileState::Missing).then(|| {
            Finding::new(ID, Severity::Error, "the file is missing")
                .because(snapshot.own_or_flinks("the job or the checkpoint cannot be recovered", FLINKS))
                .advise(
                    "put the file back from a copy; check that the storage is mounted and is the right one",
                )
        })
    })
}
