use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "foreign-znode";

/// A node below the cluster node that is not of the layout.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let foreign = snapshot.tree()?.foreign.iter();
    Ok(foreign
        .map(|node| {
            Finding::new(ID, Severity::Warning, format!("{} is expected here", node.what))
                .at_znode(&node.place)
                .because("it is never read or deleted, and keeps its parent from going")
                .advise("find out what made it; delete it by hand if nothing needs it")
        })
        .collect())
}
