use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "identity-mismatch";

/// Tree and storage are of two clusters.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let (tree, stored) = (snapshot.tree()?, snapshot.storage()?);
    let (Some(Ok(node)), Some(Ok(file))) = (&tree.identity.what, &stored.identity.what) else {
        return Ok(Vec::new());
    };
    if node.cluster_uuid == file.cluster_uuid {
        return Ok(Vec::new());
    }
    let found = format!(
        "the tree belongs to the cluster {}, made for the storage {}; the storage {} belongs to the cluster {}",
        node.cluster_uuid, node.storage_dir, stored.uri, file.cluster_uuid
    );
    Ok(vec![
        Finding::new(ID, Severity::Error, found)
            .at_znode(&tree.identity.place)
            .at_file(&stored.identity.place)
            .because("nobody leads, and what other checks say of files is said of another cluster's")
            .advise("correct high-availability.storageDir, cluster-id or zookeeper.path.root"),
    ])
}
