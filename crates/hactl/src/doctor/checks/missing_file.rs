use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-missing-file";

/// A pointer whose file is missing.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let pointers = snapshot.tree()?.pointers.iter();
    Ok(pointers
        .filter_map(|pointer| {
            let named = pointer.named.as_ref().ok()?;
            if named.state != FileState::Missing {
                return None;
            }
            Some(
                Finding::new(ID, Severity::Error, "the file is missing")
                    .at_znode(&pointer.path)
                    .at_file(&named.place)
                    .because("the job or the checkpoint cannot be recovered")
                    .advise("put the file back from a copy; check that the storage is mounted and is the right one"),
            )
        })
        .collect())
}
