use ha_flink::{LeaderInformation, Place, Pointer, decode_checkpoint_id_counter};
use ha_zookeeper::paths::ClusterPaths;

use super::tree;
use crate::cluster::Node;

/// What the data of a znode say, in a line; `None` where they are text already, or say nothing.
pub(crate) fn summary(paths: &ClusterPaths, node: &Node) -> Option<String> {
    let said = match tree::place(paths.cluster(), &node.path) {
        Place::LeaderInformation(_) => LeaderInformation::decode(&node.data).map(|leader| match leader {
            Some(leader) => format!(
                "leader {} with the session id {}",
                leader.address, leader.session_id
            ),
            None => "nobody leads".to_owned(),
        }),
        Place::JobGraph(_) | Place::Checkpoint(..) => Pointer::decode(&node.data)
            .map(|pointer| format!("file {} of {} bytes", pointer.file, pointer.size)),
        Place::CheckpointIdCounter(_) => {
            decode_checkpoint_id_counter(&node.data).map(|next| format!("next checkpoint id {next}"))
        }
        _ => return None,
    };
    Some(said.unwrap_or_else(|error| error.to_string()))
}
