//! Deleting what a job keeps below `jobs/<job-id>`: pointers first, then files, each step as often as one likes.

use ha_core::environment::steps;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::StateKind;

use crate::client::{Operation, ZkCode};
use crate::fence::{Commit, Proof, Term};
use crate::paths::ClusterPaths;
use crate::stores::{StoreContext, pointers};

/// The most deletions in one multi.
pub(super) const MAX_DELETIONS: usize = 100;
/// How often a listing that others change at the same time is made again.
const ATTEMPTS: usize = 5;

/// Deletes all checkpoints of the job: the pointers, then the files that were listed before.
///
/// # Errors
/// `NotLeader` before any file is touched; else the first failure, after which a repetition goes on.
pub(crate) async fn delete_checkpoints(context: &StoreContext, term: &Term, job_id: JobId) -> Result<()> {
    // A file whose pointer is about to be published would be listed here, and deleted after it.
    let _removing = context.job_locks.lock(job_id, StateKind::Checkpoint).await;
    let environment = &context.environment;
    // Listed before the fenced write: what is put later belongs to a later life of the job id.
    let files = context
        .storage
        .list_states(StateKind::Checkpoint, Some(job_id))
        .await?;
    let folder = context.writer.paths().checkpoints(job_id);
    let client = context.writer.client().await?;
    let names = pointers::names(&client, &folder).await?;
    let (ours, foreign): (Vec<_>, Vec<_>) = names
        .into_iter()
        .partition(|name| CheckpointId::from_name(name).is_some());
    for name in &foreign {
        let path = ClusterPaths::child(&folder, name);
        context.report(&pointers::foreign(name, &path, "checkpoint id"));
    }
    let ours: Vec<_> = ours
        .iter()
        .map(|name| ClusterPaths::child(&folder, name))
        .collect();
    for chunk in ours.chunks(MAX_DELETIONS) {
        let deleting = delete_all(context, term, chunk.to_vec());
        environment
            .step(steps::REMOVE_CHECKPOINT_POINTERS, deleting)
            .await?;
    }
    if ours.is_empty() && !files.is_empty() {
        // Nothing to write, so the check alone: no file is deleted in a term that is over.
        delete_all(context, term, Vec::new()).await?;
    }
    let removing = remove_folder(context, term, &folder);
    environment.step(steps::REMOVE_JOB_FOLDER, removing).await?;
    for path in &ours {
        context.health.clear_broken(path);
    }
    for file in &files {
        let deleting = context.storage.delete(&file.path);
        environment.step(steps::REMOVE_CHECKPOINT_FILE, deleting).await?;
    }
    Ok(())
}

/// Deletes the counter of the job. A missing one is success.
///
/// # Errors
/// `NotLeader` and what ZooKeeper answers.
pub(crate) async fn delete_counter(context: &StoreContext, term: &Term, job_id: JobId) -> Result<()> {
    let path = context.writer.paths().checkpoint_id_counter(job_id);
    let deleting = delete_all(context, term, vec![path.clone()]);
    context.environment.step(steps::REMOVE_COUNTER, deleting).await?;
    context.health.clear_broken(&path);
    Ok(())
}

/// Deletes nodes in one multi; those that are gone are left out. With none left it proves that the term lasts.
///
/// # Errors
/// `NotLeader`; `Conflict` for a node that has children; what ZooKeeper answers.
pub(crate) async fn delete_all(context: &StoreContext, term: &Term, mut paths: Vec<String>) -> Result<()> {
    loop {
        let proof = match paths.is_empty() {
            false => Proof::AllGone { paths: paths.clone() },
            true => Proof::Nothing,
        };
        let operations = paths
            .iter()
            .map(|path| Operation::Delete {
                path: path.clone(),
                version: None,
            })
            .collect();
        match context.writer.commit(term, operations, &proof).await? {
            Commit::Applied(_) => return Ok(()),
            Commit::Refused(refusal) if refusal.code == ZkCode::NoNode => {
                paths.retain(|path| *path != refusal.path);
            }
            Commit::Refused(refusal) => {
                return Err(refusal.into_error("the znode has children that are not ours"));
            }
        }
    }
}

/// Deletes a folder if it is empty. One that holds what is not ours stays.
pub(crate) async fn remove_folder(context: &StoreContext, term: &Term, path: &str) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let delete = Operation::Delete {
            path: path.to_owned(),
            version: None,
        };
        let client = context.writer.client().await?;
        let stat = client
            .exists(path)
            .await
            .map_err(|error| error.at(path).not_applied())?;
        match stat {
            None => return Ok(()),
            Some(stat) if stat.num_children > 0 => {
                tracing::warn!(
                    path,
                    children = stat.num_children,
                    "left: it holds what is not ours"
                );
                return Ok(());
            }
            Some(_) => {}
        }
        let proof = Proof::Gone {
            path: path.to_owned(),
        };
        match context.writer.commit(term, vec![delete], &proof).await? {
            Commit::Applied(_) => return Ok(()),
            Commit::Refused(refusal) if refusal.code == ZkCode::NoNode => return Ok(()),
            Commit::Refused(_) => {}
        }
    }
    Err(Error::new(
        ErrorKind::Conflict,
        "somebody fills this folder while it is cleaned up",
    )
    .at(path)
    .not_applied())
}
