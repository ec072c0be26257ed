use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_flink::{
    CHECKPOINT_PREFIX, CompletedCheckpoint, JOB_GRAPH_PREFIX, JobGraph, Place, Pointer, RunningJobStatus,
    decode_checkpoint_id_counter,
};
use ha_zookeeper::paths::ClusterPaths;

use super::files::{Looked, look};
use super::tree;
use crate::cluster::{JobPlace, Node, Nodes, StoredCheckpoint, StoredGraph, StoredJobs};
use crate::layout::PathMappings;

/// What the znodes say about jobs.
pub(crate) async fn jobs(
    nodes: &Nodes,
    paths: &ClusterPaths,
    mappings: &PathMappings,
    broken: &mut Vec<BrokenEntry>,
) -> Result<StoredJobs> {
    let mut stored = StoredJobs {
        has_registry: nodes.get(&paths.running_jobs()).await?.is_some(),
        ..StoredJobs::default()
    };
    for (place, node) in tree::read(nodes, paths.cluster(), paths.cluster(), broken).await? {
        match place {
            Place::JobGraph(job) => {
                let graph = graph(job, &node, mappings, broken);
                stored.graphs.extend(graph.map(|graph| (job, graph)));
            }
            Place::Checkpoint(job, id) => {
                let ids = stored.checkpoints.entry(job).or_default();
                ids.extend(CheckpointId::new(id).ok());
            }
            Place::CheckpointIdCounter(job) => {
                let next = next_checkpoint(job, &node, broken);
                stored.next_checkpoint.extend(next.map(|next| (job, next)));
            }
            Place::RunningJob(job) => match RunningJobStatus::decode(&node.data) {
                Ok(status) => drop(stored.registry.insert(job, scheduling_status(status))),
                Err(error) => broken.push(entry(job, &node, error.to_string())),
            },
            _ => {}
        }
    }
    Ok(stored)
}

/// What tells of one job's checkpoints, apart from themselves.
pub(crate) async fn job_place(
    nodes: &Nodes,
    paths: &ClusterPaths,
    job: JobId,
    broken: &mut Vec<BrokenEntry>,
) -> Result<JobPlace> {
    let mut has_graph = false;
    for name in nodes.names(paths.cluster()).await?.unwrap_or_default() {
        let path = format!("{}/{name}/{job}", paths.cluster());
        if tree::place(paths.cluster(), &path) == Place::JobGraph(job) {
            has_graph |= nodes.get(&path).await?.is_some();
        }
    }
    let counter = nodes.get(&paths.checkpoint_id_counter(job)).await?;
    Ok(JobPlace {
        has_graph,
        next_checkpoint: counter.and_then(|counter| next_checkpoint(job, &counter, broken)),
    })
}

/// The checkpoints of one job, in the order of their ids; `None` when the job has no place for them.
pub(crate) async fn checkpoints(
    nodes: &Nodes,
    paths: &ClusterPaths,
    job: JobId,
    mappings: &PathMappings,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Option<Vec<StoredCheckpoint>>> {
    let folder = paths.checkpoints(job);
    if nodes.get(&folder).await?.is_none() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for (place, node) in tree::read(nodes, paths.cluster(), &folder, broken).await? {
        if let Place::Checkpoint(_, id) = place
            && let Ok(id) = CheckpointId::new(id)
        {
            found.extend(checkpoint(job, id, &node, mappings, broken));
        }
    }
    found.sort_by_key(|checkpoint| checkpoint.id);
    Ok(Some(found))
}

fn graph(
    job: JobId,
    node: &Node,
    mappings: &PathMappings,
    broken: &mut Vec<BrokenEntry>,
) -> Option<StoredGraph> {
    let pointer = pointer(job, node, broken)?;
    let (name, readable) = match look(&pointer, mappings, JOB_GRAPH_PREFIX) {
        Looked::Elsewhere => (None, None),
        Looked::Wrong(wrong) => {
            broken.push(entry(job, node, wrong.to_string()));
            (None, Some(false))
        }
        Looked::There(bytes) => match JobGraph::decode_prefix(&bytes) {
            Ok(graph) if graph.job == job => (graph.name, Some(true)),
            Ok(graph) => {
                broken.push(entry(job, node, format!("its file is of the job {}", graph.job)));
                (None, Some(false))
            }
            // Of a version whose classes are others; the file is as long as it should be.
            Err(error) => {
                tracing::warn!(file = pointer.file, %error, "the job graph's file cannot be decoded");
                (None, None)
            }
        },
    };
    Some(StoredGraph {
        name,
        path: node.path.clone(),
        file: pointer.file,
        size: pointer.size,
        readable,
        terminal: None,
    })
}

fn checkpoint(
    job: JobId,
    id: CheckpointId,
    node: &Node,
    mappings: &PathMappings,
    broken: &mut Vec<BrokenEntry>,
) -> Option<StoredCheckpoint> {
    let pointer = pointer(job, node, broken)?;
    let (completed, readable) = match look(&pointer, mappings, CHECKPOINT_PREFIX) {
        Looked::Elsewhere => (None, None),
        Looked::Wrong(wrong) => {
            broken.push(entry(job, node, wrong.to_string()));
            (None, Some(false))
        }
        Looked::There(bytes) => match CompletedCheckpoint::decode_prefix(&bytes) {
            Ok(found) if found.id == id.get() && found.job.is_none_or(|of| of == job) => {
                (Some(found), Some(true))
            }
            Ok(found) => {
                let of = found
                    .job
                    .map_or_else(String::new, |of| format!(" of the job {of}"));
                broken.push(entry(
                    job,
                    node,
                    format!("its file is the checkpoint {}{of}", found.id),
                ));
                (None, Some(false))
            }
            Err(error) => {
                broken.push(entry(job, node, error.to_string()));
                (None, Some(false))
            }
        },
    };
    Some(StoredCheckpoint {
        id,
        path: node.path.clone(),
        file: pointer.file,
        size: pointer.size,
        crc32c: None,
        write_id: None,
        published: u64::try_from(node.stat.mtime).unwrap_or(0),
        external_path: completed.and_then(|completed| completed.external_path),
        readable,
    })
}

/// `None` beside one that cannot be read.
fn pointer(job: JobId, node: &Node, broken: &mut Vec<BrokenEntry>) -> Option<Pointer> {
    match Pointer::decode(&node.data) {
        Ok(pointer) => Some(pointer),
        Err(error) => {
            broken.push(entry(job, node, error.to_string()));
            None
        }
    }
}

/// `None` beside one that cannot be read.
fn next_checkpoint(job: JobId, node: &Node, broken: &mut Vec<BrokenEntry>) -> Option<CheckpointId> {
    let next = decode_checkpoint_id_counter(&node.data)
        .map_err(|error| error.to_string())
        .and_then(|next| CheckpointId::new(u64::from(next)).map_err(|error| error.message().to_owned()));
    match next {
        Ok(next) => Some(next),
        Err(reason) => {
            broken.push(entry(job, node, reason));
            None
        }
    }
}

fn entry(job: JobId, node: &Node, reason: String) -> BrokenEntry {
    BrokenEntry {
        name: job.to_string(),
        path: node.path.clone(),
        reason,
        candidates: Vec::new(),
    }
}

const fn scheduling_status(status: RunningJobStatus) -> JobSchedulingStatus {
    match status {
        RunningJobStatus::Pending => JobSchedulingStatus::Pending,
        RunningJobStatus::Running => JobSchedulingStatus::Running,
        RunningJobStatus::Done => JobSchedulingStatus::Done,
    }
}
