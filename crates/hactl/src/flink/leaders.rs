use std::collections::BTreeMap;

use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_flink::{Component, LeaderInformation, Place};
use ha_zookeeper::paths::ClusterPaths;

use super::tree;
use crate::cluster::{Node, Nodes};
use crate::commands::{Contender, Leader};

/// Who leads, and who stands in the elections.
pub(crate) async fn leaders(
    nodes: &Nodes,
    paths: &ClusterPaths,
    broken: &mut Vec<BrokenEntry>,
) -> Result<(Vec<Leader>, Vec<Contender>)> {
    let cluster = paths.cluster();
    let mut found = tree::read(nodes, cluster, &paths.leader(), broken).await?;
    // Before 1.15 the leader of a job is told beside its checkpoints.
    for job in nodes.names(&paths.jobs()).await?.unwrap_or_default() {
        let folder = format!("{}/{job}/leader", paths.jobs());
        found.extend(tree::read(nodes, cluster, &folder, broken).await?);
    }
    let mut leaders = Vec::new();
    let mut latches: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (place, node) in found {
        match place {
            Place::LeaderInformation(component) => leaders.extend(leader(component, &node, broken)),
            Place::LatchNode(component, sequence) => {
                latches
                    .entry(component.as_ref().map(name))
                    .or_default()
                    .push((sequence, node));
            }
            _ => {}
        }
    }
    leaders.sort_by(|a, b| a.component.cmp(&b.component));
    let contenders = latches.into_iter().flat_map(|(election, mut latch)| {
        latch.sort_by_key(|(sequence, _)| *sequence);
        let contenders: Vec<_> = latch
            .iter()
            .enumerate()
            .map(|(place, (_, node))| contender(election.clone(), place, node))
            .collect();
        contenders
    });
    Ok((leaders, contenders.collect()))
}

/// `None` beside one that cannot be read.
fn leader(component: Component, node: &Node, broken: &mut Vec<BrokenEntry>) -> Option<Leader> {
    let component = name(&component);
    let information = match LeaderInformation::decode(&node.data) {
        Ok(information) => information,
        Err(error) => {
            broken.push(BrokenEntry {
                name: component,
                path: node.path.clone(),
                reason: error.to_string(),
                candidates: Vec::new(),
            });
            return None;
        }
    };
    let session_id = information.as_ref().map(|information| {
        let (high, low) = information.session_id.as_u64_pair();
        LeaderSessionId::from_bits(high, low)
    });
    Some(Leader {
        component,
        since: information.as_ref().map(|_| millis(node.stat.mtime)),
        address: information.map(|information| information.address),
        session_id,
        epoch: None,
        process: None,
        path: node.path.clone(),
    })
}

/// Flink's latch nodes hold nothing: of a process no more is known than its session.
fn contender(election: Option<String>, place: usize, node: &Node) -> Contender {
    Contender {
        process: None,
        leading: place == 0,
        tool: None,
        election,
        since: millis(node.stat.ctime),
        zookeeper_session: format!("{:#x}", node.stat.ephemeral_owner),
        session_id: None,
        path: node.path.clone(),
    }
}

/// The name by which this project knows the component too.
fn name(component: &Component) -> String {
    match component {
        Component::Named(name) => name.clone(),
        Component::JobManager(job) => ComponentId::job_manager(*job).to_string(),
    }
}

fn millis(server_time: i64) -> u64 {
    u64::try_from(server_time).unwrap_or(0)
}
