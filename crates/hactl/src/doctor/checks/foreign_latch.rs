use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "foreign-latch";

/// A node among the latches that is no latch.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let elections = snapshot.tree()?.elections.iter();
    Ok(elections
        .flat_map(|election| &election.foreign)
        .map(|path| {
            Finding::new(ID, Severity::Error, "the name is not that of a latch")
                .at_znode(path)
                .because(
                    "nobody begins to lead as long as it is there: it may be a contender of another program",
                )
                .advise("find out what made it, stop that, and delete the node")
        })
        .collect())
}
