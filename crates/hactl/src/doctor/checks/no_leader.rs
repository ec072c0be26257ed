use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "no-leader";

/// Nobody leads: no process stands first in the election with a claim.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let elections = snapshot.tree()?.elections.iter();
    Ok(elections
        // A named election that everybody has left is over.
        .filter(|election| election.component.is_none() || !election.latches.is_empty())
        .filter_map(|election| {
            let found = match election.latches.first() {
                None => "nobody stands in the election",
                Some(first) if first.data.is_ok() && first.claim().is_none() => {
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
