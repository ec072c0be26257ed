//! What the checks of files that pointers name have in common.

use super::check::Outcome;
use super::finding::Finding;
use super::snapshot::{Named, Pointed, Snapshot};

/// Why it matters when what Flink points to is not there.
pub(super) const FLINKS: &str = "the job or the checkpoint cannot be recovered; of a job graph this ends each JobManager that begins to lead, and so all jobs stand still";

/// Looks at each pointer with the file that it names; a finding gets the places of both.
pub(super) fn find(snapshot: &Snapshot, look: impl Fn(&Pointed, &Named) -> Option<Finding>) -> Outcome {
    let pointers = snapshot.tree()?.pointers.iter();
    let found = pointers.filter_map(|pointer| {
        let named = pointer.named.as_ref().ok()?;
        let finding = look(pointer, named)?;
        Some(finding.at_znode(&pointer.path).at_file(&named.place))
    });
    Ok(found.collect())
}
