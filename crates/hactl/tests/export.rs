//! What `hactl export` makes of a cluster of files, in the mode `filesystem`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::ErrorKind;
use ha_core::blobs::BlobStore as _;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, JobId};
use ha_storage::{FileSystemRunningJobsRegistry, HaBlobStore, HaStorage, StateKind};
use hactl::{Cluster, Export};
use tempfile::TempDir;

const JOB: JobId = JobId::from_bytes([1; 16]);

fn configuration(directory: &Path) -> Configuration {
    Configuration::new()
        .with("high-availability", "filesystem")
        .with(
            "high-availability.storageDir",
            directory.join("ha").display().to_string(),
        )
        .with("high-availability.cluster-id", "one")
}

/// A job with a checkpoint, a registry entry, a blob and a result of another job; beside it what is foreign.
async fn populate(directory: &Path) {
    let id = ClusterId::new("one").unwrap();
    let environment = Environment::system();
    let uri = directory.join("ha").display().to_string();
    let storage = HaStorage::open(&uri, &id, &environment).await.unwrap();
    storage.identity().await.unwrap();
    let put = storage.put_state(
        StateKind::Checkpoint,
        JOB,
        "0000000000000000001",
        BTreeMap::new(),
        Bytes::from_static(b"payload"),
    );
    put.await.unwrap();
    let registry = FileSystemRunningJobsRegistry::new(Arc::clone(&storage), HealthMonitor::default());
    ha_core::jobs::RunningJobsRegistry::set_job_running(&*registry, JOB)
        .await
        .unwrap();
    let local = directory.join("local");
    std::fs::write(&local, "content").unwrap();
    let blobs = HaBlobStore::new(Arc::clone(&storage));
    let key = blobs.create_key(&local).await.unwrap();
    blobs.put(&local, JOB, &key).await.unwrap();
    let results = directory.join("ha/job-results-store/one");
    std::fs::create_dir_all(&results).unwrap();
    let result = format!(
        r#"{{"result":{{"id":"{JOB}","application-status":"SUCCEEDED","net-runtime":1}},"version":1}}"#
    );
    std::fs::write(results.join(format!("{JOB}_DIRTY.json")), result).unwrap();
    std::fs::write(storage.local_folder().unwrap().join("README"), "").unwrap();
}

#[tokio::test]
async fn every_file_of_the_layout_is_in_it_and_what_is_foreign_is_told() {
    let directory = TempDir::new().unwrap();
    populate(directory.path()).await;
    let target = directory.path().join("one.tar");
    let cluster = Cluster::open(&configuration(directory.path()), &Environment::system())
        .await
        .unwrap();
    let report = Export::write(&cluster, &target).await.unwrap();
    let counts = &report.body.counts;
    assert_eq!(
        (counts.checkpoints, counts.registry_entries, counts.blobs),
        (1, 1, 1)
    );
    assert_eq!((counts.dirty_results, counts.clean_results), (1, 0));
    assert_eq!(report.broken.len(), 1, "{:?}", report.broken);
    assert_eq!(report.broken[0].name, "README");
    assert_eq!(report.body.size, target.metadata().unwrap().len());

    let mut archive = tar::Archive::new(std::fs::File::open(&target).unwrap());
    let mut found = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        found.insert(name, content);
    }
    // As they are.
    let mut files = 0;
    for (name, content) in &found {
        let place = match name.split_once('/') {
            Some(("files", path)) => directory.path().join("ha/one").join(path),
            Some(("results", name)) => directory.path().join("ha/job-results-store/one").join(name),
            _ => continue,
        };
        assert_eq!(std::fs::read(place).unwrap(), *content, "{name}");
        files += 1;
    }
    assert_eq!(files, 4, "{:?}", found.keys());
    assert!(!found.contains_key("znodes.jsonl") && found.contains_key("manifest.jsonl"));

    // Never over a file.
    let before = std::fs::read(&target).unwrap();
    let error = Export::write(&cluster, &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    assert_eq!(std::fs::read(&target).unwrap(), before);
}

#[tokio::test]
async fn a_cluster_whose_import_was_cut_off_is_not_exported() {
    let directory = TempDir::new().unwrap();
    let id = ClusterId::new("one").unwrap();
    let uri = directory.path().join("ha").display().to_string();
    let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
    storage.begin_import(None, "digest").await.unwrap();
    let target = directory.path().join("one.tar");
    let cluster = Cluster::open(&configuration(directory.path()), &Environment::system())
        .await
        .unwrap();
    let error = Export::write(&cluster, &target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.advice().contains("repeat `hactl import"), "{error}");
    assert!(!target.exists());
}
