use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-torn-file";

/// A pointer whose file is cut off or altered.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let pointers = snapshot.tree()?.pointers.iter();
    Ok(pointers
        .filter_map(|pointer| {
            let named = pointer.named.as_ref().ok()?;
            let FileState::Torn(reason) = &named.state else {
                return None;
            };
            Some(
                Finding::new(ID, Severity::Error, reason)
                    .at_znode(&pointer.path)
                    .at_file(&named.place)
                    .because("the job or the checkpoint cannot be recovered")
                    .advise("put the file back from a copy; look for faults of the storage, for files are written whole and never changed"),
            )
        })
        .collect())
}
