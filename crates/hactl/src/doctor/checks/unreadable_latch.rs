use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Claim, Snapshot};

const ID: &str = "unreadable-latch";

/// A latch whose data cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let latches = snapshot
        .tree()?
        .elections
        .iter()
        .flat_map(|election| &election.latches);
    Ok(latches
        .filter_map(|latch| {
            let Claim::Unreadable(reason) = &latch.claim else {
                return None;
            };
            Some(
                Finding::new(ID, Severity::Warning, reason)
                    .at_znode(&latch.path)
                    .because("it counts in the election, but which process it is, and whether it leads, cannot be told")
                    .advise("find the process by its session among the server's connections; a newer release may have made it"),
            )
        })
        .collect())
}
