use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files::{self, FLINKS};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-foreign-file";

/// A pointer in whose place another whole file lies.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    named_files::find(snapshot, |_, named| {
        match &named.state {
        FileState::Other(reason) => Some(
            Finding::new(ID, Severity::Error, reason)
                .because(snapshot.own_or_flinks(
                    "it is a file of another write than the pointer's: the job or the checkpoint cannot be recovered from it",
                    FLINKS,
                ))
                .advise("put the right file back from a copy; files are never replaced, so find out what did this"),
        ),
        _ => None,
    }
    })
}
