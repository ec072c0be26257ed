use ha_core::blobs::BlobStore;
use ha_core::environment::steps;
use ha_core::ids::{ComponentId, JobId};
use ha_core::{Effect, Error, Result};
use ha_storage::{HaBlobStore, StateKind};

use crate::fence::Term;
use crate::stores::{
    StoreContext, ZooKeeperJobResultStore, delete_all, delete_checkpoints, delete_counter, remove_folder,
};

/// Cleans up after a job whose end is recorded, in the order of design §9. Each step may be repeated; files are
/// listed before the fenced multi that precedes their deletion, and no others are deleted.
pub(super) async fn clean_up_job(
    context: &StoreContext,
    results: &ZooKeeperJobResultStore,
    blobs: &HaBlobStore,
    job_id: JobId,
) -> Result<()> {
    let environment = &context.environment;
    let term = context.writer.begin().await?;
    if !results.is_ended(job_id).await? {
        return Err(
            Error::invalid("no end is recorded for the job: nothing of it is cleaned up")
                .at(context.writer.paths().job_graph(job_id))
                .advise("record its end first"),
        );
    }
    // The pointer is about to go, and with it the end that it records.
    results.ensure_recorded(&term, job_id).await?;
    delete_checkpoints(context, &term, job_id).await?;
    delete_counter(context, &term, job_id).await?;
    let folder = context.writer.paths().job(job_id);
    let removing = remove_folder(context, &term, &folder);
    environment.step(steps::REMOVE_JOB_FOLDER, removing).await?;
    context.storage.tidy_job(job_id).await;
    delete_job_graph(context, &term, job_id).await?;
    delete_blobs(context, &term, blobs, job_id).await?;
    let paths = context.writer.paths();
    let component = ComponentId::job_manager(job_id);
    let clearing = delete_all(context, &term, vec![paths.running_job(job_id)]);
    environment.step(steps::REMOVE_REGISTRY_ENTRY, clearing).await?;
    let removing = async {
        delete_all(context, &term, vec![paths.connection_info(&component)]).await?;
        remove_folder(context, &term, &paths.leader_of(&component)).await
    };
    environment.step(steps::REMOVE_JOB_LEADER, removing).await
}

async fn delete_job_graph(context: &StoreContext, term: &Term, job_id: JobId) -> Result<()> {
    // A file whose pointer is about to be published would be listed here, and deleted after it.
    let _removing = context.job_locks.lock(job_id, StateKind::JobGraph).await;
    let environment = &context.environment;
    let files = context
        .storage
        .list_states(StateKind::JobGraph, Some(job_id))
        .await?;
    let path = context.writer.paths().job_graph(job_id);
    let change = context.job_graph_changes.begin(job_id, None);
    // With nothing to delete this is the check alone.
    let deleting = delete_all(context, term, vec![path.clone()]);
    match environment.step(steps::REMOVE_GRAPH_POINTER, deleting).await {
        Ok(()) => change.applied(),
        Err(error) => {
            if error.effect() == Effect::NotApplied {
                change.not_applied();
            }
            return Err(error);
        }
    }
    context.health.clear_broken(&path);
    for file in files {
        let deleting = context.storage.delete(&file.path);
        environment.step(steps::REMOVE_GRAPH_FILE, deleting).await?;
    }
    Ok(())
}

async fn delete_blobs(context: &StoreContext, term: &Term, blobs: &HaBlobStore, job_id: JobId) -> Result<()> {
    let keys = blobs.keys(job_id).await?;
    let leftovers = context.storage.job_leftovers(job_id).await?;
    context.writer.prove(term).await?;
    for key in keys {
        blobs.delete(job_id, &key).await?;
    }
    let deleting = context.storage.delete_job_leftovers(job_id, &leftovers);
    context.environment.step(steps::REMOVE_LEFTOVERS, deleting).await
}
