use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-result";

/// A job result that cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let results = snapshot.storage()?.unreadable_results.iter();
    Ok(results
        .map(|result| {
            Finding::new(ID, Severity::Error, &result.what)
                .at_file(&result.place)
                .because(snapshot.own_or_flinks(
                    "its job counts as ended, how is not known, and its clean-up does not go on",
                    "a dirty one ends each JobManager that begins to lead, and so all jobs stand still",
                ))
                .advise("put it back from a copy; if that job's clean-up is done, the file may be deleted by hand")
        })
        .collect())
}
