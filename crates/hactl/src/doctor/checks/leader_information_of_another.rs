use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "leader-information-of-another";

/// Leader information that is not by the process whose latch is first.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    Ok(tree
        .leaders
        .iter()
        .filter_map(|led| {
            let found = tree.differs_from_latch(led)?;
            Some(
                Finding::new(ID, Severity::Error, found)
                    .at_znode(&led.path)
                    .because("clients are sent to a process that does not lead, and wait for an answer in vain")
                    .advise("look again after a session timeout; where it stays, restart the process of the first latch, which publishes anew"),
            )
        })
        .collect())
}
