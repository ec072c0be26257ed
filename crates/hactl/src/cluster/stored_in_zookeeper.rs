use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobResultEntry;
use ha_storage::{HaStorage, StateFile, StateKind};
use ha_zookeeper::codec::{Pointer, decode_counter, decode_status};
use ha_zookeeper::paths::ClusterPaths;

use super::stored::{JobPlace, StoredCheckpoint, StoredGraph, StoredJobs, foreign, verify_states};
use super::{Cluster, Node, Nodes};

const JOB_ID: &str = "a job id of 32 lower-case hexadecimal digits";
const CHECKPOINT_ID: &str = "a checkpoint id of 19 digits";
/// How often the checkpoints of a job at work are read until none goes meanwhile.
const ATTEMPTS: u32 = 5;
/// How many jobs are looked at a time.
const CONCURRENCY: usize = 16;

/// What the znodes say about jobs.
pub(super) async fn jobs(
    cluster: &Cluster,
    nodes: &Nodes,
    paths: &ClusterPaths,
    broken: &mut Vec<BrokenEntry>,
) -> Result<StoredJobs> {
    let mut stored = StoredJobs {
        has_registry: true,
        ..StoredJobs::default()
    };
    let storage = storage(cluster, broken).await;
    let parent = paths.job_graphs();
    // A map that is made of all at once takes less than one that grew.
    let mut graphs = Vec::new();
    let names = nodes.names(&parent).await?.unwrap_or_default();
    for names in nodes.parts("job graphs", &names) {
        let pointers = job_graph_pointers(nodes, &parent, names, broken).await?;
        let files = pointers
            .iter()
            .map(|(_, _, pointer)| pointer.file.clone())
            .collect();
        let readable = verify(
            nodes,
            storage.as_deref(),
            files,
            pointers.iter().map(|(_, node, _)| node),
            broken,
        )
        .await?;
        let pointers = pointers.into_iter().zip(readable);
        graphs.extend(pointers.filter_map(|((job_id, node, pointer), readable)| {
            let graph = StoredGraph {
                name: pointer.name,
                path: node.path,
                file: pointer.file.path,
                size: pointer.file.size,
                readable: Some(readable?),
                terminal: pointer.terminal.map(Box::new),
            };
            Some((job_id, graph))
        }));
    }
    stored.graphs = graphs.into_iter().collect();
    read_checkpoint_ids(nodes, paths, &mut stored, broken).await?;
    read_registry(nodes, paths, &mut stored, broken).await?;
    Ok(stored)
}

async fn read_registry(
    nodes: &Nodes,
    paths: &ClusterPaths,
    stored: &mut StoredJobs,
    broken: &mut Vec<BrokenEntry>,
) -> Result<()> {
    let parent = paths.running_jobs();
    let names = nodes.names(&parent).await?.unwrap_or_default();
    for names in nodes.parts("registry", &names) {
        for node in nodes.some_children(&parent, names, broken).await? {
            let Some(job_id) = JobId::from_name(node.name()) else {
                broken.push(foreign(node.name(), &node.path, JOB_ID));
                continue;
            };
            match decode_status(&node.path, &node.data) {
                Ok(status) => drop(stored.registry.insert(job_id, status)),
                Err(error) => broken.push(BrokenEntry::from_error(node.name(), node.path.clone(), &error)),
            }
        }
    }
    Ok(())
}

/// The ends of jobs that are decided in the pointers of their job graphs. Reads no file.
pub(super) async fn decided_results(
    nodes: &Nodes,
    paths: &ClusterPaths,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<JobResultEntry>> {
    let parent = paths.job_graphs();
    let mut decided = Vec::new();
    let names = nodes.names(&parent).await?.unwrap_or_default();
    for names in nodes.parts("job graphs", &names) {
        let pointers = job_graph_pointers(nodes, &parent, names, broken).await?;
        decided.extend(
            pointers
                .into_iter()
                .filter_map(|(_, _, pointer)| pointer.terminal),
        );
    }
    Ok(decided)
}

/// The pointers of job graphs that can be read, of some of the jobs.
async fn job_graph_pointers(
    nodes: &Nodes,
    parent: &str,
    names: &[String],
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<(JobId, Node, Pointer)>> {
    let mut pointers = Vec::new();
    for node in nodes.some_children(parent, names, broken).await? {
        let Some(job_id) = JobId::from_name(node.name()) else {
            broken.push(foreign(node.name(), &node.path, JOB_ID));
            continue;
        };
        match Pointer::decode(&node.path, StateKind::JobGraph, &node.data) {
            Ok(pointer) => pointers.push((job_id, node, pointer)),
            Err(error) => broken.push(BrokenEntry::from_error(node.name(), node.path.clone(), &error)),
        }
    }
    Ok(pointers)
}

async fn read_checkpoint_ids(
    nodes: &Nodes,
    paths: &ClusterPaths,
    stored: &mut StoredJobs,
    broken: &mut Vec<BrokenEntry>,
) -> Result<()> {
    let mut job_ids = Vec::new();
    for name in nodes.names(&paths.jobs()).await?.unwrap_or_default() {
        match JobId::from_name(&name) {
            Some(job_id) => job_ids.push(job_id),
            None => broken.push(foreign(&name, &ClusterPaths::child(&paths.jobs(), &name), JOB_ID)),
        }
    }
    let (mut checkpoints, mut next_checkpoints) = (Vec::new(), Vec::new());
    for job_ids in nodes.parts("jobs", &job_ids) {
        let mut reads = stream::iter(job_ids)
            .map(|&job_id| async move {
                let names = nodes.names(&paths.checkpoints(job_id)).await?;
                let counter = nodes.get(&paths.checkpoint_id_counter(job_id)).await?;
                Result::Ok((job_id, names.unwrap_or_default(), counter))
            })
            .buffered(CONCURRENCY);
        while let Some((job_id, names, counter)) = reads.try_next().await? {
            // Foreign names are reported by `hactl checkpoints JOB`, where they hide nothing either.
            let ids = names.iter().filter_map(|name| CheckpointId::from_name(name));
            checkpoints.push((job_id, ids.collect()));
            if let Some(next) = counter.and_then(|counter| next_checkpoint(job_id, &counter, broken)) {
                next_checkpoints.push((job_id, next));
            }
        }
    }
    stored.checkpoints = checkpoints.into_iter().collect();
    stored.next_checkpoint = next_checkpoints.into_iter().collect();
    Ok(())
}

/// The number in a job's counter; `None` beside one that is broken.
fn next_checkpoint(job_id: JobId, counter: &Node, broken: &mut Vec<BrokenEntry>) -> Option<CheckpointId> {
    match decode_counter(&counter.path, &counter.data) {
        Ok(next) => Some(next),
        Err(error) => {
            let path = counter.path.clone();
            broken.push(BrokenEntry::from_error(job_id.to_string(), path, &error));
            None
        }
    }
}

/// What the znodes say about one job's checkpoints, apart from themselves.
pub(super) async fn job_place(
    nodes: &Nodes,
    paths: &ClusterPaths,
    job_id: JobId,
    broken: &mut Vec<BrokenEntry>,
) -> Result<JobPlace> {
    let counter = nodes.get(&paths.checkpoint_id_counter(job_id)).await?;
    Ok(JobPlace {
        has_graph: nodes.get(&paths.job_graph(job_id)).await?.is_some(),
        next_checkpoint: counter.and_then(|counter| next_checkpoint(job_id, &counter, broken)),
    })
}

/// The checkpoints of one job, in the order of their ids; `None` when the job has no place for them.
pub(super) async fn checkpoints(
    cluster: &Cluster,
    nodes: &Nodes,
    paths: &ClusterPaths,
    job_id: JobId,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Option<Vec<StoredCheckpoint>>> {
    let parent = paths.checkpoints(job_id);
    let storage = storage(cluster, broken).await;
    let mut attempt = 1;
    loop {
        if nodes.get(&parent).await?.is_none() {
            return Ok(None);
        }
        let mut found_broken = Vec::new();
        let (found, is_whole) =
            checkpoints_now(nodes, storage.as_deref(), &parent, &mut found_broken).await?;
        // Where some went while they were read, others have come.
        if is_whole || attempt == ATTEMPTS {
            broken.append(&mut found_broken);
            return Ok(Some(found));
        }
        attempt += 1;
    }
}

/// The checkpoints that are there, and whether none of them went while they were read.
async fn checkpoints_now(
    nodes: &Nodes,
    storage: Option<&HaStorage>,
    parent: &str,
    broken: &mut Vec<BrokenEntry>,
) -> Result<(Vec<StoredCheckpoint>, bool)> {
    let mut pointers = Vec::new();
    for node in nodes.children(parent, broken).await? {
        let Some(id) = CheckpointId::from_name(node.name()) else {
            broken.push(foreign(node.name(), &node.path, CHECKPOINT_ID));
            continue;
        };
        match Pointer::decode(&node.path, StateKind::Checkpoint, &node.data) {
            Ok(pointer) => pointers.push((id, node, pointer)),
            Err(error) => broken.push(BrokenEntry::from_error(id.to_string(), node.path.clone(), &error)),
        }
    }
    let files = pointers
        .iter()
        .map(|(_, _, pointer)| pointer.file.clone())
        .collect();
    let readable = verify(
        nodes,
        storage,
        files,
        pointers.iter().map(|(_, node, _)| node),
        broken,
    )
    .await?;
    let is_whole = readable.iter().all(Option::is_some);
    let checkpoints = pointers.into_iter().zip(readable);
    let found = checkpoints
        .filter_map(|((id, node, pointer), readable)| {
            Some(StoredCheckpoint {
                id,
                external_path: None,
                readable: Some(readable?),
                published: u64::try_from(node.stat.mtime).unwrap_or(0),
                path: node.path,
                file: pointer.file.path,
                size: pointer.file.size,
                crc32c: Some(pointer.file.crc32c),
                write_id: Some(pointer.write_id),
            })
        })
        .collect();
    Ok((found, is_whole))
}

/// Whether each file is what its pointer says; `None` where the pointer changed or went while its file was read,
/// which proves nothing against the file: a cluster at work replaces checkpoints all the time.
async fn verify(
    nodes: &Nodes,
    storage: Option<&HaStorage>,
    files: Vec<StateFile>,
    pointers: impl Iterator<Item = &Node>,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<Option<bool>>> {
    let Some(storage) = storage else {
        return Ok(vec![Some(false); files.len()]);
    };
    let mut readable = Vec::with_capacity(files.len());
    for (state, pointer) in verify_states(storage, files).await.into_iter().zip(pointers) {
        let Err(error) = state else {
            readable.push(Some(true));
            continue;
        };
        nodes.sync(&pointer.path).await?;
        let now = nodes.get(&pointer.path).await?;
        let unchanged = now.is_some_and(|node| node.stat.mzxid == pointer.stat.mzxid);
        if unchanged {
            broken.push(BrokenEntry::from_error(
                pointer.name(),
                pointer.path.clone(),
                &error,
            ));
        }
        readable.push(unchanged.then_some(false));
    }
    Ok(readable)
}

/// The storage; when it cannot be reached, that is one broken entry, and the znodes are shown all the same.
async fn storage(cluster: &Cluster, broken: &mut Vec<BrokenEntry>) -> Option<Arc<HaStorage>> {
    match cluster.storage().await {
        Ok(storage) => Some(storage),
        Err(error) => {
            let path = error
                .subject()
                .unwrap_or("high-availability.storageDir")
                .to_owned();
            broken.push(BrokenEntry::from_error("storage", path, &error));
            None
        }
    }
}
