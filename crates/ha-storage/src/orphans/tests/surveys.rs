//! What a listing of a storage directory shows.

use std::sync::Arc;

use ha_core::environment::{Environment, RandomIdSource};
use ha_core::health::HealthMonitor;
use ha_core::ids::{BlobKey, ClusterId};

use super::HOUR;
use crate::orphans::{FileKind, Survey};
use crate::storage::tests::{put_checkpoint, put_graph};
use crate::test_support::{FaultyStore, LocalStorage, Trouble, cluster, job};
use crate::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings, StateKind};

fn results(storage: &Arc<HaStorage>) -> Arc<FileSystemJobResultStore> {
    FileSystemJobResultStore::in_storage(Arc::clone(storage), false, HealthMonitor::default())
}

fn write(path: std::path::PathBuf) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "x").unwrap();
}

#[tokio::test]
async fn every_kind_is_told_by_its_place_and_name_and_the_rest_is_foreign() {
    let local = LocalStorage::new().await;
    let root = local.folder();
    local.storage.identity().await.unwrap();
    let graph = put_graph(&local.storage, 1).await.path;
    let checkpoint = put_checkpoint(&local.storage, 1, 7).await.path;
    let (one, two) = (job(1), job(2));
    let key = BlobKey::new([7; 32], &RandomIdSource);
    let results_folder = local.directory.path().join("job-results-store/c1");
    let known = [
        (FileKind::JobGraph, graph.clone()),
        (FileKind::Checkpoint, checkpoint.clone()),
        (FileKind::FileBacked, format!("jobgraphs/{one}.job")),
        (FileKind::FileBacked, format!("jobs/{one}/counter")),
        (FileKind::FileBacked, format!("running_job_registry/{two}")),
        (FileKind::Blob, format!("blobs/{two}/{key}")),
        (FileKind::Temporary, format!("{graph}#1")),
        (FileKind::Temporary, format!("{checkpoint}#23")),
        (FileKind::Temporary, format!("jobs/{one}/counter#1")),
        (FileKind::Temporary, format!("blobs/{two}/.upload-1")),
        (FileKind::Temporary, ".upload-probe-1".to_owned()),
    ];
    for (_, path) in &known {
        write(root.join(path));
    }
    let foreign = [
        "README",
        "other/x",
        "jobgraphs/README",
        "jobgraphs/sub/x",
        "jobs/x",
        "jobs/notes/x",
        &format!("jobs/{one}/x"),
        &format!("jobs/{one}/checkpoints/7"),
        "blobs/x",
        &format!("blobs/{two}/p-1"),
        "running_job_registry/x",
    ];
    for path in foreign {
        write(root.join(path));
    }
    for name in [
        format!("{one}_DIRTY.json"),
        format!("{two}_DIRTY.json"),
        format!("{two}.json"),
        "README".to_owned(),
        format!("{one}.json#1"),
    ] {
        write(results_folder.join(name));
    }
    let survey = Survey::make(&local.storage, &results(&local.storage))
        .await
        .unwrap();
    let mut found: Vec<_> = survey
        .files
        .iter()
        .map(|file| (file.kind, file.path.clone()))
        .collect();
    found.sort();
    let mut expected = known.to_vec();
    expected.extend([
        (FileKind::Result, format!("{one}_DIRTY.json")),
        (FileKind::Result, format!("{two}_DIRTY.json")),
        (FileKind::Result, format!("{two}.json")),
        (FileKind::Temporary, format!("{one}.json#1")),
    ]);
    expected.sort();
    assert_eq!(found, expected);
    // One that is clean too is clean.
    assert_eq!(survey.dirty_jobs(), &[one].into());
    let mut places: Vec<_> = survey.foreign.iter().map(|file| file.place.clone()).collect();
    places.sort();
    let mut expected: Vec<_> = foreign
        .iter()
        .filter(|path| !["other/x", "jobgraphs/sub/x", "jobs/notes/x"].contains(path))
        .chain(&["other", "jobgraphs/sub", "jobs/notes"])
        .map(|path| root.join(path).display().to_string())
        .collect();
    let results_folder = results_folder.canonicalize().unwrap();
    expected.push(results_folder.join("README").display().to_string());
    expected.sort();
    assert_eq!(places, expected);
    // The owners, where a place says so.
    let owner = |path: &str| survey.files.iter().find(|file| file.path == path).unwrap().owner;
    assert_eq!(owner(&graph), Some(one));
    assert_eq!(owner(&format!("blobs/{two}/.upload-1")), Some(two));
    assert_eq!(owner(&format!("{checkpoint}#23")), Some(one));
    assert_eq!(owner(".upload-probe-1"), None);
    // Nothing is left of the marker, and nothing was touched.
    assert!(
        local
            .files()
            .iter()
            .all(|path| !path.contains("probe-") || path.ends_with("probe-1"))
    );
}

#[tokio::test]
async fn a_configured_folder_of_results_that_others_share_is_left_alone() {
    let local = LocalStorage::new().await;
    local.storage.identity().await.unwrap();
    let shared = tempfile::tempdir().unwrap();
    let settings = JobResultStoreSettings {
        storage_path: Some(shared.path().to_str().unwrap().into()),
        delete_on_commit: false,
        ..JobResultStoreSettings::default()
    };
    let results =
        FileSystemJobResultStore::open(Arc::clone(&local.storage), settings, HealthMonitor::default())
            .await
            .unwrap();
    let torn = format!("{}_DIRTY.json#1", job(1));
    for name in ["README", "x#1", ".upload-1", &torn] {
        write(shared.path().join(name));
    }
    let survey = Survey::make(&local.storage, &results).await.unwrap();
    let names: Vec<_> = survey.files.iter().map(|file| &file.path).collect();
    assert_eq!(names, [&torn]);
    assert!(survey.foreign.is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn what_stands_in_the_place_of_a_folder_hides_no_other() {
    use std::os::unix::fs::symlink;
    let local = LocalStorage::new().await;
    let root = local.folder();
    local.storage.identity().await.unwrap();
    let outside = tempfile::tempdir().unwrap();
    write(outside.path().join("x"));
    let checkpoint = put_checkpoint(&local.storage, 1, 1).await;
    put_checkpoint(&local.storage, 2, 1).await;
    // The graphs are elsewhere, and so are the checkpoints of one job.
    symlink(outside.path(), root.join("jobgraphs")).unwrap();
    let moved = root.join(format!("jobs/{}/checkpoints", job(2)));
    std::fs::rename(&moved, outside.path().join("moved")).unwrap();
    symlink(outside.path().join("moved"), &moved).unwrap();
    symlink("/nowhere", root.join(format!("jobs/{}/dangling", job(1)))).unwrap();
    let survey = Survey::make(&local.storage, &results(&local.storage))
        .await
        .unwrap();
    let found: Vec<_> = survey.files.iter().map(|file| &file.path).collect();
    assert_eq!(found, [&checkpoint.path]);
    let mut foreign: Vec<_> = survey.foreign.iter().map(|file| file.place.clone()).collect();
    foreign.sort();
    let mut expected = [
        root.join("jobgraphs"),
        root.join(format!("jobs/{}/dangling", job(1))),
        moved,
    ]
    .map(|path| path.display().to_string());
    expected.sort();
    assert_eq!(foreign, expected);
    assert!(outside.path().join("x").exists());
}

#[tokio::test]
async fn a_neighbour_is_not_in_the_survey() {
    let local = LocalStorage::new().await;
    let environment = Environment::system();
    let directory = local.directory.path().to_str().unwrap();
    let neighbour = ClusterId::new("c1-2").unwrap();
    let neighbour = HaStorage::open(directory, &neighbour, &environment)
        .await
        .unwrap();
    put_graph(&neighbour, 1).await;
    let survey = Survey::make(&local.storage, &results(&local.storage))
        .await
        .unwrap();
    assert!(survey.files.is_empty() && survey.foreign.is_empty());
}

#[tokio::test]
async fn in_an_object_store_the_same_is_found() {
    let storage = HaStorage::in_memory(&cluster(), &Environment::system());
    storage.identity().await.unwrap();
    let graph = put_graph(&storage, 1).await;
    let checkpoint = put_checkpoint(&storage, 1, 1).await;
    let survey = Survey::make(&storage, &results(&storage)).await.unwrap();
    let mut found: Vec<_> = survey
        .files
        .iter()
        .map(|file| (file.kind, &*file.path, file.size))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            (FileKind::JobGraph, &*graph.path, graph.size),
            (FileKind::Checkpoint, &*checkpoint.path, checkpoint.size),
        ]
    );
    assert!(survey.foreign.is_empty());
    let listed = storage.list_states(StateKind::JobGraph, None).await.unwrap();
    assert!(survey.store_time + HOUR > listed[0].last_modified);
}

#[tokio::test]
async fn what_cannot_be_listed_is_an_error_and_not_an_empty_survey() {
    let local = LocalStorage::new().await;
    put_graph(&local.storage, 1).await;
    let away = local.directory.path().with_extension("away");
    std::fs::rename(local.directory.path(), &away).unwrap();
    let error = Survey::make(&local.storage, &results(&local.storage))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::Unavailable, "{error}");
    std::fs::rename(&away, local.directory.path()).unwrap();
    // Nor is one whose marker cannot be written.
    let faulty = Arc::new(FaultyStore::default());
    let storage = faulty.storage();
    faulty.make(Trouble::Full, 10);
    assert!(Survey::make(&storage, &results(&storage)).await.is_err());
}
