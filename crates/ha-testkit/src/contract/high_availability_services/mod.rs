//! The contract of [`HighAvailabilityServices`]: every part works in the same mode, `close` keeps data, clean-up
//! removes this cluster's and nobody else's.

mod data;
mod fencing;
mod getters;

use std::sync::Arc;

use ha_core::checkpoints::CheckpointIdCounter;
use ha_core::ids::{BlobKey, JobId};
use ha_core::jobs::{ApplicationStatus, JobGraphStore, JobSchedulingStatus};
use ha_core::services::HighAvailabilityServices;

use super::macros::cases;
use super::{checkpoint, ended, graph};
use crate::fakes::RecordingJobGraphListener;

pub use data::*;
pub use fencing::*;
pub use getters::*;

type Subject = Arc<dyn HighAvailabilityServices>;

async fn graphs(services: &Subject) -> Arc<dyn JobGraphStore> {
    let store = services.job_graph_store();
    store
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    store
}

async fn counter(services: &Subject, job_id: JobId) -> Arc<dyn CheckpointIdCounter> {
    let factory = services.checkpoint_recovery_factory();
    let counter = factory.create_checkpoint_id_counter(job_id).await.unwrap();
    counter.start().await.unwrap();
    counter
}

/// Writes one of everything that services keep of a running job.
async fn write_job(services: &Subject, job_id: JobId) -> BlobKey {
    let store = graphs(services).await;
    store.put_job_graph(&graph(job_id, "payload")).await.unwrap();
    store.stop().await.unwrap();
    let next = counter(services, job_id).await.get_and_increment().await.unwrap();
    services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(job_id, 3)
        .await
        .unwrap()
        .add_and_subsume(checkpoint(job_id, next.get()))
        .await
        .unwrap();
    services
        .running_jobs_registry()
        .set_job_running(job_id)
        .await
        .unwrap();
    let local = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(local.path(), b"content").unwrap();
    let blobs = services.create_blob_store().await.unwrap();
    let key = blobs.create_key(local.path()).await.unwrap();
    assert!(blobs.put(local.path(), job_id, &key).await.unwrap());
    key
}

/// What services keep of a job.
#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    graph: bool,
    checkpoints: Vec<u64>,
    counted: bool,
    running: bool,
    blobs: Vec<BlobKey>,
    ended: bool,
}

impl Kept {
    /// What [`write_job`] wrote.
    fn all(blob: BlobKey) -> Self {
        Self {
            graph: true,
            checkpoints: vec![1],
            counted: true,
            running: true,
            blobs: vec![blob],
            ended: false,
        }
    }

    async fn read(services: &Subject, job_id: JobId) -> Self {
        let store = graphs(services).await;
        let graph = store.recover_job_graph(job_id).await.unwrap().is_some();
        store.stop().await.unwrap();
        let checkpoints = services
            .checkpoint_recovery_factory()
            .create_recovered_completed_checkpoint_store(job_id, 3)
            .await
            .unwrap();
        let status = services
            .running_jobs_registry()
            .job_scheduling_status(job_id)
            .await
            .unwrap();
        let blobs = services.create_blob_store().await.unwrap();
        Self {
            graph,
            checkpoints: checkpoints
                .all()
                .await
                .unwrap()
                .iter()
                .map(|checkpoint| checkpoint.checkpoint_id.get())
                .collect(),
            counted: counter(services, job_id).await.get().await.unwrap().get() > 1,
            running: status == JobSchedulingStatus::Running,
            blobs: blobs.keys(job_id).await.unwrap(),
            ended: services
                .job_result_store()
                .has_job_result_entry(job_id)
                .await
                .unwrap(),
        }
    }
}

async fn end_job(services: &Subject, job_id: JobId) {
    services
        .job_result_store()
        .create_dirty_result(&ended(job_id, ApplicationStatus::Succeeded))
        .await
        .unwrap();
}

cases! { ($) high_availability_services:
    every_getter_works,
    getters_give_fresh_services,
    older_names_are_the_same_component,
    job_managers_of_two_jobs_are_apart,
    new_services_are_not_degraded,
    closed_services_refuse,
    close_is_idempotent,
    close_gives_up_leadership,
    close_keeps_data,
    crash_keeps_data,
    ended_job_is_not_recovered,
    cleanup_of_a_job_without_an_end_is_invalid,
    cleanup_of_a_job_leaves_its_result_and_the_other_jobs,
    cleanup_goes_on_after_a_crash,
    cleanup_of_all_removes_all,
    cleanup_of_all_keeps_the_neighbour,
    former_leader_cannot_write,
    standby_cannot_write,
    leader_can_write,
    tool_cannot_write_beside_a_contender,
    cleanup_of_all_is_refused_beside_a_contender,
}
