use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-registry-entry";

/// An entry of the running jobs registry that cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let entries = snapshot.tree()?.unreadable_registry.iter();
    Ok(entries
        .map(|entry| {
            Finding::new(ID, Severity::Warning, &entry.what)
                .at_znode(&entry.place)
                .because("whether the job was scheduled cannot be told")
                .advise("set it to PENDING, RUNNING or DONE, or delete it")
        })
        .collect())
}
