use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Claim, Snapshot};

const ID: &str = "no-leader";

/// Nobody leads: no process stands first in the election with a claim.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let elections = snapshot.tree()?.elections.iter();
    Ok(elections
        .filter(|election| election.is_held())
        .filter_map(|election| {
            let found = match election.latches.first() {
                None => "nobody stands in the election",
                Some(first) if first.claim == Claim::None => {
                    "the first in the election has not claimed leadership"
                }
                Some(_) => return None,
            };
            Some(
                Finding::new(ID, Severity::Warning, found)
                    .at_znode(&election.path)
                    .because("without a leader no job runs, and no job is accepted")
                    .advise(
                        "start a process of the cluster; where one runs, its log says why it does not lead",
                    ),
            )
        })
        .collect())
}
