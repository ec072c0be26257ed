use ha_core::Result;
use ha_core::ids::{CheckpointId, ComponentId, JobId};
use ha_zookeeper::paths::ClusterPaths;

use super::{Action, Change, Plan};
use crate::cluster::Nodes;

/// Adds the deletion of everything that the tree holds of a job: first its job graph, so that whatever interrupts it the
/// job does not run again with half of what it needs; then its checkpoints; then the rest.
///
/// What is not of the layout stays, and the nodes above it.
pub(super) async fn delete(
    plan: &mut Plan,
    nodes: &Nodes,
    paths: &ClusterPaths,
    job_id: JobId,
) -> Result<()> {
    let mut changes = Vec::new();
    push(&mut changes, nodes, &paths.job_graph(job_id), job_id).await?;
    let checkpoints = nodes
        .children(&paths.checkpoints(job_id), &mut plan.broken)
        .await?;
    let is_ours = |name: &str| CheckpointId::from_name(name).is_some();
    for node in checkpoints.iter().filter(|node| is_ours(node.name())) {
        changes.push(change(&node.path, node.data.len(), job_id));
    }
    let has_foreign = checkpoints.iter().any(|node| !is_ours(node.name()));
    if !has_foreign {
        push(&mut changes, nodes, &paths.checkpoints(job_id), job_id).await?;
    }
    push(&mut changes, nodes, &paths.checkpoint_id_counter(job_id), job_id).await?;
    let below = nodes.names(&paths.job(job_id)).await?.unwrap_or_default();
    let known = ["checkpoints", "checkpoint_id_counter"];
    if !has_foreign && below.iter().all(|name| known.contains(&name.as_str())) {
        push(&mut changes, nodes, &paths.job(job_id), job_id).await?;
    }
    push(&mut changes, nodes, &paths.running_job(job_id), job_id).await?;
    delete_component(
        &mut changes,
        nodes,
        paths,
        &ComponentId::job_manager(job_id),
        Some(job_id),
    )
    .await?;
    plan.delete_znodes(changes);
    Ok(())
}

/// Adds the deletion of what the election of a component left.
pub(super) async fn delete_component(
    changes: &mut Vec<Change>,
    nodes: &Nodes,
    paths: &ClusterPaths,
    component: &ComponentId,
    job_id: Option<JobId>,
) -> Result<()> {
    let parent = paths.leader_of(component);
    let below = nodes.names(&parent).await?.unwrap_or_default();
    if let Some(node) = nodes.get(&paths.connection_info(component)).await? {
        let size = size(node.data.len());
        changes.push(Change::new(Action::DeleteZnode, node.path, size, job_id));
    }
    if below.iter().all(|name| name == "connection_info")
        && let Some(node) = nodes.get(&parent).await?
    {
        let size = size(node.data.len());
        changes.push(Change::new(Action::DeleteZnode, node.path, size, job_id));
    }
    Ok(())
}

/// Adds the deletion of a znode, if it is there.
async fn push(changes: &mut Vec<Change>, nodes: &Nodes, path: &str, job_id: JobId) -> Result<()> {
    if let Some(node) = nodes.get(path).await? {
        changes.push(change(path, node.data.len(), job_id));
    }
    Ok(())
}

fn change(path: &str, length: usize, job_id: JobId) -> Change {
    Change::new(Action::DeleteZnode, path, size(length), Some(job_id))
}

pub(crate) fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
