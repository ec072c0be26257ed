use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "tree-lost";

/// The tree was once found empty although there were state files.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    match &tree.identity.what {
        Some(Ok(node)) if node.tree_lost => Ok(vec![
            Finding::new(ID, Severity::Warning, "the tree was found empty although the storage held state files")
                .at_znode(&tree.identity.place)
                .because("files without a pointer are perhaps all that is left of jobs; nothing is cleaned up until that is settled")
                .advise("compare the files with `hactl jobs`, keep what is needed, then accept the loss with `hactl doctor --accept-empty-tree --apply`"),
        ]),
        _ => Ok(Vec::new()),
    }
}
