use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_flink::Place;

use crate::cluster::{Node, Nodes};

/// All znodes below `path`, which lies `depth` segments below the cluster's, each with what it is by its place. What is
/// none of Flink's is reported and left out.
pub(super) async fn read(
    nodes: &Nodes,
    cluster: &str,
    below: &str,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<(Place, Node)>> {
    let mut found = Vec::new();
    for node in nodes.walk(below, broken).await? {
        match place(cluster, &node.path) {
            Place::Foreign => broken.push(BrokenEntry {
                name: node.name().to_owned(),
                path: node.path.clone(),
                reason: "it is none of Flink's znodes".to_owned(),
                candidates: Vec::new(),
            }),
            place => found.push((place, node)),
        }
    }
    Ok(found)
}

/// What the znode `path` is.
pub(crate) fn place(cluster: &str, path: &str) -> Place {
    let below = path.strip_prefix(cluster).unwrap_or(path);
    let segments: Vec<_> = below.split('/').filter(|segment| !segment.is_empty()).collect();
    Place::of(&segments)
}
