use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "counter-behind";

/// A counter that would give the id of a checkpoint that is there.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    Ok(snapshot
        .jobs
        .values()
        .filter_map(|job| {
            let (next, newest) = (job.next_checkpoint.as_ref()?, job.newest_checkpoint?);
            if next.what > newest {
                return None;
            }
            let found = format!("the next id is {}, and the newest checkpoint has {newest}", next.what);
            Some(
                snapshot
                    .at(Finding::new(ID, Severity::Warning, found), &next.place)
                    .because("a checkpoint that is completed under a taken id is refused; after its next start the job counts on from its checkpoints")
                    .advise("restart the job's leader; where the tree or the storage was restored from a copy, check the other findings first"),
            )
        })
        .collect())
}
