use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "storage-of-another-tree";

/// A storage that was made for another tree.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let (tree, stored) = (snapshot.tree()?, snapshot.storage()?);
    let Some(Ok(file)) = &stored.identity.what else {
        return Ok(Vec::new());
    };
    let Some(other) = file.tree.as_ref().filter(|other| **other != tree.cluster) else {
        return Ok(Vec::new());
    };
    Ok(vec![
        Finding::new(ID, Severity::Error, format!("the storage {} belongs to the tree {other}", stored.uri))
            .at_znode(&tree.cluster)
            .at_file(&stored.identity.place)
            .because("two trees that point into one folder take each other's files for nobody's; processes refuse to lead")
            .advise("give each cluster a storageDir or a cluster-id of its own; where the tree was moved here for good, take \"tree\" out of identity.json by hand"),
    ])
}
