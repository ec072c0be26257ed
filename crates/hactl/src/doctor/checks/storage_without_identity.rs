use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "storage-without-identity";

/// A storage that has no identity.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let stored = snapshot.storage()?;
    let node = match &snapshot.tree {
        Ok(tree) => match &tree.identity.what {
            Some(Ok(node)) => Some((tree, node)),
            // Without it there is no cluster yet, or a foreign tree, which is told by itself.
            _ => return Ok(Vec::new()),
        },
        Err(_) => None,
    };
    // A folder in which nothing is yet belongs to nobody.
    let is_new = node.is_none() && snapshot.jobs.is_empty() && stored.results.is_empty();
    if stored.identity.what.is_some() || is_new {
        return Ok(Vec::new());
    }
    let found = format!("the storage {} has no identity.json", stored.uri);
    let finding = match node {
        Some((tree, node)) => {
            let found = format!("{found}; the tree was made for the storage {}", node.storage_dir);
            Finding::new(ID, Severity::Error, found).at_znode(&tree.identity.place)
        }
        None => Finding::new(ID, Severity::Warning, found),
    };
    Ok(vec![
        finding
            .at_file(&stored.identity.place)
            .because("it is not the storage of this cluster, or what was in it is lost; with a tree nobody leads")
            .advise("correct high-availability.storageDir or cluster-id, restore the storage, or repeat a clean-up that was interrupted"),
    ])
}
