use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobResultStore as _;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::StateKind;
use ha_zookeeper::client::{CreateMode, Operation};
use ha_zookeeper::codec::{Pointer, decode_counter, encode_counter};
use ha_zookeeper::paths::ClusterPaths;

use super::job_znodes::size;
use super::plan::Restoration;
use super::{Action, Change, Plan, Step, View, Work};
use crate::cluster::Nodes;

/// A retained checkpoint of a job, written again as its newest one.
///
/// # Errors
/// `NotFound` when there is no such checkpoint; `Conflict` when the job has ended; `Corrupt` when the checkpoint or the
/// counter cannot be read.
pub(super) async fn plan(view: &View, job_id: JobId, id: CheckpointId) -> Result<Plan> {
    let (nodes, paths) = view.expect_nodes("checkpoint restore").await?;
    let mut plan = Plan::default();
    let path = paths.checkpoint(job_id, id);
    let Some(node) = nodes.get(&path).await? else {
        return Err(Error::new(ErrorKind::NotFound, "the job has no such checkpoint")
            .at(path)
            .not_applied()
            .advise(format!(
                "`hactl checkpoints {job_id}` shows those that are retained"
            )));
    };
    refuse_ended(view, &nodes, paths, job_id).await?;
    let source = Pointer::decode(&path, StateKind::Checkpoint, &node.data)?.file;
    if ha_storage::owner_of_state(StateKind::Checkpoint, &source.path) != Some(job_id) {
        return Err(
            Error::new(ErrorKind::Corrupt, "the pointer names a file of another job")
                .at(path)
                .not_applied(),
        );
    }
    // A checkpoint that cannot be read is none to go on from.
    view.storage.get_state(&source).await?;
    let counter = paths.checkpoint_id_counter(job_id);
    let stored = nodes.get(&counter).await?;
    let next = match &stored {
        Some(node) => decode_counter(&counter, &node.data)?,
        None => CheckpointId::FIRST,
    };
    let next = next.max(above(view, &nodes, paths, job_id).await?);
    let after = encode_counter(next.next()?);
    let (action, operation) = match stored {
        Some(node) => (
            Action::SetZnode,
            Operation::Set {
                path: counter.clone(),
                data: after.clone(),
                version: Some(node.stat.version),
            },
        ),
        None => (
            Action::CreateZnode,
            Operation::Create {
                path: counter.clone(),
                data: after.clone(),
                mode: CreateMode::Persistent,
            },
        ),
    };
    let name = next.to_name();
    let pointer = paths.checkpoint(job_id, next);
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = view.storage.display(&format!("{folder}/{name}-<a new uuid>"));
    let owner = Some(job_id);
    plan.steps.push(Step {
        changes: vec![
            Change::new(Action::WriteFile, file, source.size, owner),
            Change::new(Action::CreateZnode, pointer.clone(), size(node.data.len()), owner),
            Change::new(action, counter, size(after.len()), owner),
        ],
        work: Work::RestoreCheckpoint(Box::new(Restoration {
            job_id,
            source,
            name,
            pointer,
            counter: operation,
        })),
    });
    plan.notes.push(format!(
        "The checkpoint {id} becomes the newest one, {next}; those between stay until newer ones take their place."
    ));
    Ok(plan)
}

/// A job that has ended recovers from nothing any more.
async fn refuse_ended(view: &View, nodes: &Nodes, paths: &ClusterPaths, job_id: JobId) -> Result<()> {
    let path = paths.job_graph(job_id);
    let has_ended = match nodes.get(&path).await? {
        Some(node) => Pointer::decode(&path, StateKind::JobGraph, &node.data)?
            .terminal
            .is_some(),
        None => view.results.has_job_result_entry(job_id).await?,
    };
    match has_ended {
        false => Ok(()),
        true => Err(
            Error::new(ErrorKind::Conflict, "the job has ended: it never runs again")
                .at(path)
                .not_applied()
                .advise(
                    "`hactl job forget` removes what is recorded of it, so that it can be submitted again",
                ),
        ),
    }
}

/// The id above every checkpoint of the job that a pointer or a file is there for.
async fn above(view: &View, nodes: &Nodes, paths: &ClusterPaths, job_id: JobId) -> Result<CheckpointId> {
    let names = nodes.names(&paths.checkpoints(job_id)).await?.unwrap_or_default();
    let files = view
        .storage
        .list_states(StateKind::Checkpoint, Some(job_id))
        .await?;
    let of_file = |path: &str| {
        let name = path.rsplit('/').next()?;
        CheckpointId::from_name(name.split_once('-')?.0)
    };
    let ids = names.iter().filter_map(|name| CheckpointId::from_name(name));
    let ids = ids.chain(files.iter().filter_map(|file| of_file(&file.path)));
    ids.max().map_or(Ok(CheckpointId::FIRST), CheckpointId::next)
}
