use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_storage::{ClusterIdentity, HaStorage};
use ha_zookeeper::codec::IdentityData;
use ha_zookeeper::paths::ClusterPaths;

use super::Nodes;

/// Reports a storage that is not the one of the tree: what is read there is another cluster's, or nothing. A tree
/// without an identity says nothing of its storage.
pub(super) async fn compare(
    nodes: &Nodes,
    paths: &ClusterPaths,
    storage: &HaStorage,
    broken: &mut Vec<BrokenEntry>,
) -> Result<()> {
    let path = paths.identity();
    let Some(node) = nodes.get(&path).await? else {
        return Ok(());
    };
    let identity = match IdentityData::decode(&path, &node.data) {
        Ok(identity) => identity,
        Err(error) => {
            broken.push(BrokenEntry::from_error("identity", path, &error));
            return Ok(());
        }
    };
    match storage.read_identity().await {
        Ok(file) => {
            broken.extend(
                mismatch(&identity, file.as_ref(), storage.uri()).map(|reason| BrokenEntry {
                    name: "identity".to_owned(),
                    path,
                    reason,
                    candidates: Vec::new(),
                }),
            )
        }
        Err(error) => {
            let subject = error.subject().unwrap_or(storage.uri()).to_owned();
            broken.push(BrokenEntry::from_error("identity", subject, &error));
        }
    }
    Ok(())
}

/// Why the storage is not the tree's.
fn mismatch(node: &IdentityData, file: Option<&ClusterIdentity>, uri: &str) -> Option<String> {
    let found = match file {
        Some(file) if file.cluster_uuid == node.cluster_uuid => return None,
        Some(file) => format!("belongs to the cluster {}", file.cluster_uuid),
        None => "has no identity.json of this cluster".to_owned(),
    };
    Some(format!(
        "the tree belongs to the cluster {}, made for the storage {}, and the storage {uri} {found}: correct \
         high-availability.storageDir or cluster-id; jobs and results may be missing here",
        node.cluster_uuid, node.storage_dir
    ))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn another_storage_is_told_with_the_right_one() {
        let node = IdentityData {
            cluster_uuid: Uuid::from_u128(1),
            storage_dir: "file:///right".to_owned(),
            created_by: String::new(),
            tree_lost: false,
        };
        let mut file = ClusterIdentity {
            format: 1,
            cluster_uuid: node.cluster_uuid,
            storage_dir: "file:///moved".to_owned(),
            tree: None,
            created_by: String::new(),
            importing: None,
        };
        assert_eq!(mismatch(&node, Some(&file), "file:///moved"), None);
        file.cluster_uuid = Uuid::from_u128(2);
        for file in [Some(&file), None] {
            let reason = mismatch(&node, file, "file:///wrong").unwrap();
            assert!(
                reason.contains("file:///right") && reason.contains("file:///wrong"),
                "{reason}"
            );
        }
    }
}
