use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-identity";

/// The identity, in the tree or in the storage, cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let mut findings = Vec::new();
    if let Ok(tree) = &snapshot.tree
        && let Some(Err(reason)) = &tree.identity.what
    {
        findings.push(Finding::new(ID, Severity::Error, reason).at_znode(&tree.identity.place));
    }
    if let Ok(stored) = &snapshot.storage
        && let Some(Err(reason)) = &stored.identity.what
    {
        findings.push(Finding::new(ID, Severity::Error, reason).at_file(&stored.identity.place));
    }
    let findings = findings.into_iter().map(|finding| {
        finding
            .because("nobody leads: whether tree and storage belong together cannot be told")
            .advise("put it back from a copy; a newer release may have made it")
    });
    Ok(findings.collect())
}
