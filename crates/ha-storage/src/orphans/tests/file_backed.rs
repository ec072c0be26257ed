//! Orphans of the file-backed stores.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_core::checkpoints::{CheckpointRecoveryFactory as _, CompletedCheckpoint};
use ha_core::environment::{Environment, RandomIdSource};
use ha_core::health::HealthMonitor;
use ha_core::ids::{BlobKey, CheckpointId};
use ha_core::jobs::{JobGraph, JobGraphStore as _, RunningJobsRegistry as _};
use ha_testkit::fakes::{ManualClock, RecordingJobGraphListener};

use super::{HOUR, age};
use crate::orphans::{OrphanReport, OrphanRules, Refusal, find_file_backed_orphans};
use crate::storage::tests::put_graph;
use crate::test_support::{LocalStorage, job};
use crate::{
    FileSystemCheckpointRecoveryFactory, FileSystemJobGraphStore, FileSystemJobResultStore,
    FileSystemRunningJobsRegistry,
};

/// Finds orphans; the interval passes at once.
async fn find(local: &LocalStorage) -> OrphanReport {
    let rules = OrphanRules::of_one_process(Duration::ZERO);
    let clock = Arc::new(ManualClock::new());
    let environment = Environment {
        clock: Arc::clone(&clock) as _,
        ..Environment::system()
    };
    let results =
        FileSystemJobResultStore::in_storage(Arc::clone(&local.storage), false, HealthMonitor::default());
    let finding = find_file_backed_orphans(&local.storage, &results, &environment, &rules);
    let passing = async {
        clock.wait_for_sleepers(1).await;
        clock.advance(rules.interval());
    };
    tokio::join!(finding, passing).0.unwrap()
}

/// A storage with everything that the file-backed stores keep of one job, all of it old.
async fn with_a_job() -> LocalStorage {
    let local = LocalStorage::new().await;
    local.storage.identity().await.unwrap();
    let health = HealthMonitor::default();
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&local.storage), false, health.clone());
    let graphs = FileSystemJobGraphStore::new(
        Arc::clone(&local.storage),
        results,
        Duration::from_secs(3600),
        health.clone(),
    );
    graphs
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    graphs
        .put_job_graph(&JobGraph {
            job_id: job(1),
            name: "n".to_owned(),
            payload: Bytes::from_static(b"graph"),
        })
        .await
        .unwrap();
    graphs.stop().await.unwrap();
    let factory = FileSystemCheckpointRecoveryFactory::new(Arc::clone(&local.storage), health.clone());
    let counter = factory.create_checkpoint_id_counter(job(1)).await.unwrap();
    counter.start().await.unwrap();
    counter.get_and_increment().await.unwrap();
    let checkpoints = factory
        .create_recovered_completed_checkpoint_store(job(1), 3)
        .await
        .unwrap();
    checkpoints
        .add_and_subsume(CompletedCheckpoint {
            job_id: job(1),
            checkpoint_id: CheckpointId::FIRST,
            timestamp: 0,
            payload: Bytes::from_static(b"checkpoint"),
        })
        .await
        .unwrap();
    FileSystemRunningJobsRegistry::new(Arc::clone(&local.storage), health)
        .set_job_running(job(1))
        .await
        .unwrap();
    blob(&local, 1);
    for path in local.files() {
        age(&local.directory.path().join(path), HOUR);
    }
    local
}

/// Puts a blob of a job in place.
fn blob(local: &LocalStorage, number: u8) -> PathBuf {
    let key = BlobKey::new([number; 32], &RandomIdSource);
    let folder = local.folder().join("blobs").join(job(number).to_string());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(key.to_string()), "x").unwrap();
    folder.join(key.to_string())
}

#[tokio::test]
async fn nothing_that_a_job_keeps_is_an_orphan() {
    let local = with_a_job().await;
    let before = local.files();
    let report = find(&local).await;
    assert_eq!(report, OrphanReport::default());
    assert_eq!(local.files(), before);
}

#[tokio::test]
async fn what_interrupted_writes_left_and_blobs_of_unknown_jobs_are_orphans() {
    let local = with_a_job().await;
    let root = local.folder();
    let left = [
        root.join("jobgraphs/x#1"),
        root.join(format!("jobs/{}/checkpoints/y#2", job(1))),
        blob(&local, 2),
    ];
    for path in &left {
        std::fs::write(path, "x").unwrap();
    }
    assert!(find(&local).await.orphans.is_empty(), "all of it is young");
    for path in &left {
        age(path, HOUR);
    }
    let before = local.files();
    let report = find(&local).await;
    let mut places: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
    places.sort();
    let found: Vec<_> = report.orphans.iter().map(|orphan| orphan.place.clone()).collect();
    assert_eq!((report.refusal, found), (None, places));
    assert_eq!(local.files(), before, "finding deletes nothing");
}

#[tokio::test]
async fn files_of_a_cluster_on_zookeeper_in_the_same_folder_are_foreign() {
    let local = with_a_job().await;
    let graph = put_graph(&local.storage, 2).await;
    let theirs = blob(&local, 2);
    for path in [local.folder().join(&graph.path), theirs] {
        age(&path, HOUR);
    }
    let report = find(&local).await;
    assert!(report.orphans.is_empty());
    let foreign: Vec<_> = report.foreign.iter().map(|file| file.place.clone()).collect();
    assert_eq!(foreign, [local.folder().join(&graph.path).display().to_string()]);
}

#[tokio::test]
async fn a_folder_that_nobody_owns_or_that_was_emptied_is_refused() {
    // No identity: nothing is written there, not even the marker.
    let local = LocalStorage::new().await;
    let blob_place = blob(&local, 1);
    age(&blob_place, HOUR);
    let before = local.files();
    let report = find(&local).await;
    assert!(
        matches!(report.refusal, Some(Refusal::NoStorage { .. })),
        "{report:?}"
    );
    assert_eq!(local.files(), before);
    // Only blobs are left.
    local.storage.identity().await.unwrap();
    let report = find(&local).await;
    assert_eq!(report.refusal, Some(Refusal::NoPointers { files: 1 }));
    assert!(report.orphans.is_empty());
    // The identity is torn.
    std::fs::write(local.folder().join("identity.json"), "{").unwrap();
    let report = find(&local).await;
    assert!(
        matches!(report.refusal, Some(Refusal::UnreadableIdentity { .. })),
        "{report:?}"
    );
}
