use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-state-file";

/// A state file that cannot be read, where there are no pointers.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let unreadable = snapshot.storage()?.unreadable.as_ref().map_err(Clone::clone)?;
    Ok(unreadable
        .iter()
        .map(|file| {
            Finding::new(ID, Severity::Error, &file.what)
                .at_file(&file.place)
                .because("what it holds of its job cannot be recovered")
                .advise("put it back from a copy")
        })
        .collect())
}
