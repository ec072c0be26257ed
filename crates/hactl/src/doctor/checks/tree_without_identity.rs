use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "tree-without-identity";

/// A cluster node with children and without an identity.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    if tree.identity.what.is_some() || tree.children.is_empty() {
        return Ok(Vec::new());
    }
    let shown: Vec<_> = tree.children.iter().take(10).map(String::as_str).collect();
    let found = format!(
        "it has {} children, and `identity` is not among them: {}",
        tree.children.len(),
        shown.join(", ")
    );
    Ok(vec![
        Finding::new(ID, Severity::Error, found)
            .at_znode(&tree.cluster)
            .because(
                "it is not a cluster of this program, perhaps Flink's own; processes refuse to lead there",
            )
            .advise("choose another high-availability.zookeeper.path.root or cluster-id"),
    ])
}
