use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files::{self, FLINKS};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-torn-file";

/// A pointer whose file is cut off or altered.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    named_files::find(snapshot, |_, named| {
        match &named.state {
        FileState::Torn(reason) => Some(
            Finding::new(ID, Severity::Error, reason)
                .because(snapshot.own_or_flinks("the job or the checkpoint cannot be recovered", FLINKS))
                .advise("put the file back from a copy; look for faults of the storage, for files are written whole and never changed"),
        ),
        _ => None,
    }
    })
}
