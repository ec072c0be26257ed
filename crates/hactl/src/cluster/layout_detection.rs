use ha_core::Result;
use ha_flink::{Generation, LeaderInformation};
use ha_zookeeper::paths::ClusterPaths;

use super::Nodes;
use crate::layout::{Layout, LayoutChoice};

/// What the names of Curator's latch nodes begin with.
const CURATOR: &str = "_c_";

/// Tells the layout of a tree by its identity, which only this project writes, by the names of latch nodes, and by the
/// form of leader information. A tree without any of them is taken for this project's.
pub(super) async fn detect(nodes: &Nodes, paths: &ClusterPaths, choice: LayoutChoice) -> Result<Layout> {
    let leader = paths.leader();
    let names = match choice {
        LayoutChoice::Native => return Ok(Layout::Native),
        LayoutChoice::Auto if nodes.get(&paths.identity()).await?.is_some() => return Ok(Layout::Native),
        LayoutChoice::Auto | LayoutChoice::Flink => nodes.names(&leader).await?.unwrap_or_default(),
    };
    let generation = Generation::of(names.iter().map(String::as_str)).unwrap_or(Generation::OneLatch);
    if choice == LayoutChoice::Flink || is_flinks(nodes, &leader, &names).await? {
        return Ok(Layout::Flink(generation));
    }
    Ok(Layout::Native)
}

async fn is_flinks(nodes: &Nodes, leader: &str, names: &[String]) -> Result<bool> {
    for name in names {
        let folder = ClusterPaths::child(leader, name);
        for latch in [folder.clone(), ClusterPaths::child(&folder, "latch")] {
            let found = nodes.names(&latch).await?.unwrap_or_default();
            if found.iter().any(|node| node.starts_with(CURATOR)) {
                return Ok(true);
            }
        }
        let information = nodes
            .get(&ClusterPaths::child(&folder, "connection_info"))
            .await?;
        if information.is_some_and(|node| matches!(LeaderInformation::decode(&node.data), Ok(Some(_)))) {
            return Ok(true);
        }
    }
    Ok(false)
}
