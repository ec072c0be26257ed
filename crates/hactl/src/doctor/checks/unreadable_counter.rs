use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-counter";

/// A checkpoint id counter that cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let counters = snapshot.tree()?.unreadable_counters.iter();
    Ok(counters
        .map(|counter| {
            Finding::new(ID, Severity::Error, &counter.what)
                .at_znode(&counter.place)
                .because("the job cannot take checkpoints, and is not recovered")
                .advise(snapshot.own_or_flinks(
                    "set it to a number above the job's newest checkpoint id, in decimal",
                    "set it to a number above the job's newest checkpoint id, in four bytes, the highest first",
                ))
        })
        .collect())
}
