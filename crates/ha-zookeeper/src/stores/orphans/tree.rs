//! What the tree of a cluster keeps.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{Protection, Refusal, StateKind};
use serde::Deserialize;
use uuid::Uuid;

use crate::client::{Stat, ZkCode, ZooKeeperClient};
use crate::codec::{IdentityData, Pointer, decode_counter};
use crate::paths::ClusterPaths;
use crate::stores::pointers;

/// How many folders of checkpoints are read at the same time.
const CONCURRENT_READS: usize = 64;
/// What the names of the elections of job managers begin with.
const JOB_ELECTION: &str = "job-";

/// A tree that belongs to a cluster, and was not lost.
pub(super) struct Tree {
    pub cluster_uuid: Uuid,
    pub protection: Protection,
}

/// The cluster that the tree belongs to, at least as new as all that was written before the call.
pub(super) async fn identity(
    client: &Arc<dyn ZooKeeperClient>,
    paths: &ClusterPaths,
) -> Result<Result<Uuid, Refusal>> {
    let path = paths.identity();
    let Some((data, _)) = pointers::read_node(client, &path).await? else {
        return Ok(Err(Refusal::NoTree {
            path: paths.cluster().to_owned(),
        }));
    };
    Ok(match IdentityData::decode(&path, &data) {
        Ok(identity) if identity.tree_lost => Err(Refusal::TreeLost { path }),
        Ok(identity) => Ok(identity.cluster_uuid),
        Err(error) => Err(Refusal::unreadable_identity(&error)),
    })
}

/// Reads everything that keeps files. All of it is at least as new as what was written before the call: the sync of
/// the first reading goes before all others on this client.
///
/// # Errors
/// What ZooKeeper answers: a list or node that could not be read may have held a pointer.
pub(super) async fn read(
    client: &Arc<dyn ZooKeeperClient>,
    paths: &ClusterPaths,
) -> Result<Result<Tree, Refusal>> {
    let cluster_uuid = match identity(client, paths).await? {
        Ok(cluster_uuid) => cluster_uuid,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut protection = Protection::default();
    let folder = paths.job_graphs();
    for (name, path, data, _) in all_nodes(client, &folder).await? {
        let owner = JobId::from_name(&name);
        add_pointer(&mut protection, StateKind::JobGraph, owner, &name, &path, &data);
    }
    add_checkpoints(client, paths, &mut protection).await?;
    for name in names(client, &paths.running_jobs()).await? {
        protection.known_jobs.extend(JobId::from_name(&name));
    }
    for name in names(client, &paths.leader()).await? {
        let job_id = name.strip_prefix(JOB_ELECTION).and_then(JobId::from_name);
        protection.known_jobs.extend(job_id);
    }
    Ok(Ok(Tree {
        cluster_uuid,
        protection,
    }))
}

async fn add_checkpoints(
    client: &Arc<dyn ZooKeeperClient>,
    paths: &ClusterPaths,
    protection: &mut Protection,
) -> Result<()> {
    let jobs = names(client, &paths.jobs()).await?;
    let jobs: Vec<_> = jobs.iter().filter_map(|name| JobId::from_name(name)).collect();
    protection.known_jobs.extend(&jobs);
    add_counters(client, paths, &jobs, protection).await?;
    let mut reads = futures::stream::iter(jobs)
        .map(|job_id| async move { (job_id, all_nodes(client, &paths.checkpoints(job_id)).await) })
        .buffer_unordered(CONCURRENT_READS);
    while let Some((job_id, nodes)) = reads.next().await {
        for (name, path, data, _) in nodes? {
            // One under a foreign name is a pointer of this job that is not understood, perhaps.
            add_pointer(
                protection,
                StateKind::Checkpoint,
                Some(job_id),
                &name,
                &path,
                &data,
            );
        }
    }
    Ok(())
}

/// Adds what the counters of checkpoint ids say. A job without one numbers its checkpoints by itself.
async fn add_counters(
    client: &Arc<dyn ZooKeeperClient>,
    paths: &ClusterPaths,
    jobs: &[JobId],
    protection: &mut Protection,
) -> Result<()> {
    let counters: Vec<_> = jobs
        .iter()
        .map(|job_id| paths.checkpoint_id_counter(*job_id))
        .collect();
    let read = pointers::read_paths(client.as_ref(), &counters).await;
    let read = read.map_err(|error| error.at(&paths.jobs()).not_applied())?;
    for ((job_id, path), counter) in jobs.iter().zip(counters).zip(read) {
        let (data, _) = match counter {
            Ok(read) => read,
            Err(error) if error.code == ZkCode::NoNode => continue,
            Err(error) => return Err(error.at(&path).not_applied()),
        };
        match decode_counter(&path, &data) {
            Ok(next) => drop(protection.next_checkpoint.insert(*job_id, next)),
            Err(error) => {
                let entry = BrokenEntry::from_error(job_id.to_string(), path, &error);
                protection.unreadable.entry(*job_id).or_insert(entry);
            }
        }
    }
    Ok(())
}

async fn all_nodes(
    client: &Arc<dyn ZooKeeperClient>,
    folder: &str,
) -> Result<Vec<(String, String, Bytes, Stat)>> {
    let names = names(client, folder).await?;
    pointers::nodes(client, folder, names).await
}

/// The names in a folder, none when it is not there. The sync has gone before.
async fn names(client: &Arc<dyn ZooKeeperClient>, folder: &str) -> Result<Vec<String>> {
    match client.list(folder).await {
        Ok((names, _)) => Ok(names),
        Err(error) if error.code == ZkCode::NoNode => Ok(Vec::new()),
        Err(error) => Err(error.at(folder).not_applied()),
    }
}

/// Adds what one node keeps. A path that it names is kept whatever else is wrong with it.
fn add_pointer(
    protection: &mut Protection,
    kind: StateKind,
    owner: Option<JobId>,
    name: &str,
    path: &str,
    data: &[u8],
) {
    protection.named.extend(path_in(data));
    let Some(owner) = owner else {
        return;
    };
    protection.known_jobs.insert(owner);
    match readable(kind, owner, path, data) {
        Ok(pointer) => {
            protection.pointers += 1;
            protection.named.insert(pointer.file.path);
        }
        Err(error) => {
            let entry = BrokenEntry::from_error(name, path, &error);
            protection.unreadable.entry(owner).or_insert(entry);
        }
    }
}

/// The pointer, if it is one to a file of its own job. One that leads elsewhere does not say which file the job
/// needs.
fn readable(kind: StateKind, owner: JobId, path: &str, data: &[u8]) -> Result<Pointer> {
    let pointer = Pointer::decode(path, kind, data)?;
    if ha_storage::owner_of_state(kind, &pointer.file.path) != Some(owner) {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("it names {:?}, which is no file of its job", pointer.file.path),
        )
        .at(path)
        .not_applied());
    }
    Ok(pointer)
}

/// The path that the data of a node names, in whatever format it is.
fn path_in(data: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Probe {
        path: String,
    }
    serde_json::from_slice::<Probe>(data).ok().map(|probe| probe.path)
}
