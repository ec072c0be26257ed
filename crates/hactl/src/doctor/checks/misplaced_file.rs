use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "pointer-to-misplaced-file";

/// A pointer to a place where no file of its job may be.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let pointers = snapshot.tree()?.pointers.iter();
    Ok(pointers
        .filter_map(|pointer| {
            let named = pointer.named.as_ref().ok()?;
            if named.state != FileState::Misplaced {
                return None;
            }
            Some(
                Finding::new(
                    ID,
                    Severity::Error,
                    format!(
                        "it names {:?}, which is no place of a file of the job {}",
                        named.file, pointer.job_id
                    ),
                )
                .at_znode(&pointer.path)
                .at_file(&named.place)
                .because("the file is not read: it may be another job's, or lie outside the cluster's folder")
                .advise("put the pointer's data back from a copy; find out what wrote this"),
            )
        })
        .collect())
}
