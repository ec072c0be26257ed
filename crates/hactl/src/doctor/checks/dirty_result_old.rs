use std::time::Duration;

use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;
use crate::render;

const ID: &str = "dirty-result-old";

/// A job that ended some time ago and is not cleaned up.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let stored = snapshot.storage()?;
    let pending = stored.results.values().filter(|end| end.clean.is_none());
    Ok(pending
        .filter_map(|end| end.dirty.as_ref())
        .filter_map(|dirty| {
            let age = Duration::from_millis(stored.now.saturating_sub(dirty.what));
            (age > snapshot.dirty_after).then(|| {
                let found = format!(
                    "the job ended at {}, {} s ago, and its clean-up is not complete",
                    render::timestamp(dirty.what),
                    age.as_secs()
                );
                Finding::new(ID, Severity::Warning, found)
                    .at_file(&dirty.place)
                    .because("what the job left in ZooKeeper and in the storage stays there")
                    .advise("a leader cleans up when it begins to lead: see that one runs, and what its log says of this job")
            })
        })
        .collect())
}
