use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;
use crate::render;

const ID: &str = "file-without-pointer";

/// A state file that no pointer names, in one observation.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let unnamed = snapshot.storage()?.unnamed.as_ref().map_err(Clone::clone)?;
    Ok(unnamed
        .iter()
        .map(|file| {
            let found = format!("no pointer names it; it was written at {}", render::timestamp(file.what));
            Finding::new(ID, Severity::Info, found)
                .at_file(&file.place)
                .because("it takes space; it may be a write under way, or what a process left that died")
                .advise("look again after high-availability.orphan-age: what is still told then, and is older, is an orphan; delete nothing while processes of the cluster run")
        })
        .collect())
}
