use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "foreign-file";

/// A file or folder in the cluster's folder that is not of the layout.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let foreign = snapshot.storage()?.foreign.iter();
    Ok(foreign
        .map(|file| {
            Finding::new(ID, Severity::Warning, &file.reason)
                .at_file(&file.place)
                .because("it is never read, cleaned up or deleted, and keeps its folder from going")
                .advise("move it elsewhere, if nothing else needs it there")
        })
        .collect())
}
