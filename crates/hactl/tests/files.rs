//! What the reading commands say of files, in the mode `filesystem`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use ha_core::configuration::Configuration;
use ha_core::environment::{Environment, RandomIdSource};
use ha_core::health::BrokenEntry;
use ha_core::ids::{BlobKey, ClusterId, JobId};
use ha_core::{ErrorKind, Result};
use ha_storage::{HaStorage, StateFile, StateKind};
use hactl::{Blobs, Checkpoints, Cluster, Jobs, Results, Tree};
use tempfile::TempDir;

const JOB: JobId = JobId::from_bytes([1; 16]);

fn configuration(directory: &Path, cluster_id: &str) -> Configuration {
    Configuration::new()
        .with("high-availability", "filesystem")
        .with("high-availability.storageDir", directory.display().to_string())
        .with("high-availability.cluster-id", cluster_id)
}

async fn open(configuration: &Configuration) -> Result<Cluster> {
    Cluster::open(configuration, &Environment::system()).await
}

async fn put(storage: &HaStorage, kind: StateKind, name: &str) -> StateFile {
    let (attributes, payload) = (BTreeMap::new(), Bytes::from_static(b"payload"));
    storage
        .put_state(kind, JOB, name, attributes, payload)
        .await
        .unwrap()
}

/// A cluster with a job of two checkpoints; its folder.
async fn populated(directory: &TempDir) -> (PathBuf, StateFile, StateFile) {
    let id = ClusterId::new("one").unwrap();
    let storage_dir = directory.path().display().to_string();
    let storage = HaStorage::open(&storage_dir, &id, &Environment::system())
        .await
        .unwrap();
    put(&storage, StateKind::JobGraph, &JOB.to_string()).await;
    let older = put(&storage, StateKind::Checkpoint, "0000000000000000001").await;
    let newest = put(&storage, StateKind::Checkpoint, "0000000000000000002").await;
    (storage.local_folder().unwrap(), older, newest)
}

fn names(broken: &[BrokenEntry]) -> Vec<&str> {
    broken.iter().map(|entry| entry.name.as_str()).collect()
}

#[tokio::test]
async fn a_cluster_of_which_nothing_is_there_is_not_found_and_the_others_are_named() {
    let directory = TempDir::new().unwrap();
    let error = open(&configuration(directory.path(), "one")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.advice().contains("no cluster is in"), "{error}");
    populated(&directory).await;
    assert!(open(&configuration(directory.path(), "one")).await.is_ok());
    let error = open(&configuration(directory.path(), "typo"))
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.subject().unwrap().ends_with("/typo"), "{error}");
    assert!(error.advice().ends_with("are one"), "{error}");
    // Results outlive the folder.
    std::fs::create_dir_all(directory.path().join("job-results-store/ended")).unwrap();
    assert!(open(&configuration(directory.path(), "ended")).await.is_ok());
}

#[tokio::test]
async fn what_is_no_regular_file_or_foreign_is_broken_beside_the_good() {
    let directory = TempDir::new().unwrap();
    let (folder, older, newest) = populated(&directory).await;
    std::fs::remove_file(folder.join(&newest.path)).unwrap();
    std::os::unix::fs::symlink("/nonexistent", folder.join(&newest.path)).unwrap();
    std::fs::write(folder.join("jobgraphs/README"), "").unwrap();
    std::fs::write(folder.join("jobs/README"), "").unwrap();
    // A write under way, or one whose process died.
    std::fs::write(folder.join("jobgraphs/x#1"), "").unwrap();
    let checkpoints = folder.join(&newest.path).parent().unwrap().to_owned();
    std::fs::write(checkpoints.join("note"), "").unwrap();

    let cluster = open(&configuration(directory.path(), "one")).await.unwrap();
    let found = Checkpoints::read(&cluster, JOB).await.unwrap();
    let states: Vec<_> = found
        .body
        .checkpoints
        .iter()
        .map(|checkpoint| (checkpoint.id, checkpoint.readable))
        .collect();
    assert_eq!(states, [(1, Some(true)), (2, Some(false))]);
    let newest = newest.path.rsplit('/').next().unwrap();
    assert_eq!(names(&found.broken), [newest, "note"]);
    assert!(found.broken[0].candidates[0].ends_with(&older.path));

    let found = Jobs::read(&cluster).await.unwrap();
    assert_eq!(found.body.jobs.len(), 1);
    assert_eq!(found.body.jobs[0].latest_checkpoint_id, Some(2));
    assert_eq!(names(&found.broken), ["README", newest, "note", "README"]);
}

#[tokio::test]
async fn results_in_a_folder_given_as_a_uri_are_in_the_tree() {
    let directory = TempDir::new().unwrap();
    populated(&directory).await;
    let results = TempDir::with_prefix("with space").unwrap();
    let file = results.path().join(format!("{JOB}.json"));
    let result = format!(
        r#"{{"result":{{"id":"{JOB}","application-status":"SUCCEEDED","net-runtime":1}},"version":1}}"#
    );
    std::fs::write(&file, result).unwrap();
    let uri = format!("file://{}", results.path().display()).replace(' ', "%20");
    let configuration = configuration(directory.path(), "one").with("job-result-store.storage-path", uri);
    let cluster = open(&configuration).await.unwrap();
    let tree = Tree::read(&cluster).await.unwrap();
    let shown = file.display().to_string();
    assert!(tree.body.nodes.iter().any(|node| node.path == shown));
    assert!(tree.broken.is_empty());
    let found = Results::read(&cluster).await.unwrap();
    assert_eq!(found.body.results[0].status, "FINISHED", "{:?}", found.broken);

    // Where the folder is not there, that is said.
    drop(results);
    let tree = Tree::read(&cluster).await.unwrap();
    assert_eq!(names(&tree.broken), ["results"]);
}

#[tokio::test]
async fn blobs_are_listed_by_job_beside_what_is_foreign_there_and_all_is_left() {
    let directory = TempDir::new().unwrap();
    let (folder, _, _) = populated(&directory).await;
    let cluster = open(&configuration(directory.path(), "one")).await.unwrap();
    let none = Blobs::read(&cluster).await.unwrap();
    assert!(none.body.blobs.is_empty() && none.broken.is_empty());

    let other = JobId::from_bytes([2; 16]);
    let mut keys: Vec<_> = [[7; 32], [8; 32]]
        .map(|hash| BlobKey::new(hash, &RandomIdSource).to_string())
        .into();
    keys.sort();
    for (job, key, content) in [
        (other, &keys[0], ""),
        (JOB, &keys[1], "four"),
        (JOB, &keys[0], "x"),
    ] {
        let of_job = folder.join(format!("blobs/{job}"));
        std::fs::create_dir_all(&of_job).unwrap();
        std::fs::write(of_job.join(key), content).unwrap();
    }
    let of_job = folder.join(format!("blobs/{JOB}"));
    std::fs::write(folder.join("blobs/README"), "").unwrap();
    std::fs::write(of_job.join("p-1"), "").unwrap();
    let link = BlobKey::new([9; 32], &RandomIdSource).to_string();
    std::os::unix::fs::symlink("/nonexistent", of_job.join(&link)).unwrap();
    // An upload under way, or one whose process died.
    std::fs::write(of_job.join(".upload-1"), "").unwrap();
    let before = entries(&folder.join("blobs"));

    let found = Blobs::read(&cluster).await.unwrap();
    let shown: Vec<_> = found
        .body
        .blobs
        .iter()
        .map(|blob| (blob.job_id, blob.key.clone(), blob.size))
        .collect();
    assert_eq!(
        shown,
        [
            (JOB, keys[0].clone(), 1),
            (JOB, keys[1].clone(), 4),
            (other, keys[0].clone(), 0)
        ]
    );
    let first = &found.body.blobs[0];
    assert_eq!(first.file, format!("blobs/{JOB}/{}", keys[0]));
    assert_eq!(std::fs::read_to_string(&first.path).unwrap(), "x");
    assert!(first.modified > 1_700_000_000_000);
    let mut foreign = names(&found.broken);
    foreign.sort_unstable();
    let mut expected = ["README", "p-1", &link];
    expected.sort_unstable();
    assert_eq!(foreign, expected);
    assert_eq!(entries(&folder.join("blobs")), before);
    let document = serde_json::to_value(&found).unwrap();
    let mut fields: Vec<_> = document["blobs"][0].as_object().unwrap().keys().collect();
    // Their order depends on how serde_json was built.
    fields.sort_unstable();
    assert_eq!(fields, ["file", "jobId", "key", "modified", "path", "size"]);

    // Where something else stands in the place of the folder, that is said.
    std::fs::remove_dir_all(folder.join("blobs")).unwrap();
    std::fs::write(folder.join("blobs"), "").unwrap();
    let found = Blobs::read(&cluster).await.unwrap();
    assert!(found.body.blobs.is_empty());
    assert_eq!(names(&found.broken), ["blobs"]);
}

/// All below a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(entries(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}
