use std::collections::BTreeMap;

use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::ComponentId;
use ha_flink::{Component, LeaderInformation, Place};
use ha_zookeeper::paths::ClusterPaths;

use super::tree;
use crate::cluster::{Node, Nodes};

/// Who leads a component.
pub(crate) struct FlinkLeader {
    /// By the name that this project gives it too.
    pub(crate) component: String,
    /// `None` when nobody leads.
    pub(crate) information: Option<LeaderInformation>,
    pub(crate) node: Node,
}

/// Who stands in an election. Flink's latch nodes hold nothing: no more is known of a process than its session.
pub(crate) struct FlinkContender {
    /// The component, where each has a latch of its own.
    pub(crate) election: Option<String>,
    /// Whether it is first.
    pub(crate) leading: bool,
    pub(crate) node: Node,
}

/// Who leads, and who stands in the elections.
pub(crate) async fn leaders(
    nodes: &Nodes,
    paths: &ClusterPaths,
    broken: &mut Vec<BrokenEntry>,
) -> Result<(Vec<FlinkLeader>, Vec<FlinkContender>)> {
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
            Place::LeaderInformation(component) => leaders.extend(leader(component, node, broken)),
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
            .into_iter()
            .enumerate()
            .map(|(place, (_, node))| FlinkContender {
                election: election.clone(),
                leading: place == 0,
                node,
            })
            .collect();
        contenders
    });
    Ok((leaders, contenders.collect()))
}

/// `None` beside one that cannot be read.
fn leader(component: Component, node: Node, broken: &mut Vec<BrokenEntry>) -> Option<FlinkLeader> {
    let component = name(&component);
    match LeaderInformation::decode(&node.data) {
        Ok(information) => Some(FlinkLeader {
            component,
            information,
            node,
        }),
        Err(error) => {
            broken.push(BrokenEntry {
                name: component,
                path: node.path,
                reason: error.to_string(),
                candidates: Vec::new(),
            });
            None
        }
    }
}

/// The name by which this project knows the component too.
fn name(component: &Component) -> String {
    match component {
        Component::Named(name) => name.clone(),
        Component::JobManager(job) => ComponentId::job_manager(*job).to_string(),
    }
}
