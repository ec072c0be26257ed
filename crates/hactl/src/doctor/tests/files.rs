//! In the mode `filesystem`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::ClusterId;
use ha_core::jobs::JobResultStore as _;
use ha_storage::{FileSystemJobResultStore, HaStorage, StateKind};
use tempfile::TempDir;

use super::world::{DIRTY_AFTER, JOB, end};
use crate::cluster::Cluster;
use crate::doctor::Doctor;

async fn storage(directory: &TempDir) -> Arc<HaStorage> {
    let id = ClusterId::new("c").unwrap();
    let uri = directory.path().display().to_string();
    let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
    storage.identity().await.unwrap();
    for (kind, name) in [
        (StateKind::JobGraph, JOB.to_string()),
        (StateKind::Checkpoint, "0000000000000000001".to_owned()),
    ] {
        let payload = Bytes::from_static(b"payload");
        storage
            .put_state(kind, JOB, &name, BTreeMap::new(), payload)
            .await
            .unwrap();
    }
    storage
}

async fn examine(directory: &TempDir) -> Doctor {
    let configuration = Configuration::new()
        .with("high-availability", "filesystem")
        .with(
            "high-availability.storageDir",
            directory.path().display().to_string(),
        )
        .with("high-availability.cluster-id", "c");
    let environment = Environment::system();
    let cluster = Cluster::open(&configuration, &environment).await.unwrap();
    let report = Doctor::examine(&cluster, &configuration, &environment, DIRTY_AFTER);
    let report = report.await.unwrap();
    assert!(report.broken.is_empty(), "{:?}", report.broken);
    report.body
}

fn found(doctor: &Doctor) -> Vec<(&'static str, Option<&str>)> {
    let findings = doctor.findings.iter();
    findings
        .map(|finding| (finding.id, finding.file.as_deref()))
        .collect()
}

#[tokio::test]
async fn files_are_checked_and_what_is_in_zookeeper_is_skipped() {
    let directory = TempDir::new().unwrap();
    let storage = storage(&directory).await;
    let doctor = examine(&directory).await;
    assert!(doctor.findings.is_empty(), "{doctor:?}");
    assert!(doctor.checks.contains(&"unreadable-state-file"));
    assert!(doctor.skipped.iter().any(|skipped| skipped.id == "no-leader"));

    let counter = storage
        .local_folder()
        .unwrap()
        .join(format!("jobs/{JOB}/counter"));
    std::fs::write(&counter, "x").unwrap();
    let place = storage.display(&format!("jobs/{JOB}/counter"));
    assert_eq!(
        found(&examine(&directory).await),
        [("unreadable-state-file", Some(&*place))]
    );
    std::fs::remove_file(&counter).unwrap();
    let foreign = storage.display("jobgraphs/README");
    std::fs::write(storage.local_folder().unwrap().join("jobgraphs/README"), "").unwrap();
    assert_eq!(
        found(&examine(&directory).await),
        [("foreign-file", Some(&*foreign))]
    );
}

#[tokio::test]
async fn of_an_ended_job_only_a_clean_result_is_too_much_beside_its_graph() {
    let directory = TempDir::new().unwrap();
    let storage = storage(&directory).await;
    let results = FileSystemJobResultStore::in_storage(storage, false, HealthMonitor::default());
    results.create_dirty_result(&end(JOB)).await.unwrap();
    assert!(examine(&directory).await.findings.is_empty());
    results.mark_result_as_clean(JOB).await.unwrap();
    let doctor = examine(&directory).await;
    assert!(
        matches!(*found(&doctor), [("result-beside-job-graph", Some(_))]),
        "{doctor:?}"
    );
}

#[tokio::test]
async fn a_storage_without_identity() {
    let directory = TempDir::new().unwrap();
    let storage = storage(&directory).await;
    std::fs::remove_file(storage.local_folder().unwrap().join("identity.json")).unwrap();
    let place = storage.display("identity.json");
    assert_eq!(
        found(&examine(&directory).await),
        [("storage-without-identity", Some(&*place))]
    );
}
