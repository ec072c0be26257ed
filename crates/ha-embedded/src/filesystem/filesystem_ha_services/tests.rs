use std::path::Path;

use bytes::Bytes;
use ha_core::configuration::JobResultStoreOptions;
use ha_core::jobs::{ApplicationStatus, JobGraph, JobResult, JobResultEntry};
use ha_testkit::fakes::{RecordingContender, RecordingJobGraphListener};

use super::*;

fn configuration(directory: &Path) -> Configuration {
    Configuration::new()
        .with("high-availability", "filesystem")
        .with("high-availability.storageDir", directory.to_str().unwrap())
        .with(JobResultStoreOptions::DELETE_ON_COMMIT.key(), "false")
}

async fn open(directory: &Path) -> Result<Arc<FilesystemHaServices>> {
    FilesystemHaServices::open(&configuration(directory), Environment::system()).await
}

fn job() -> JobId {
    JobId::from_bytes([1; 16])
}

async fn graphs(services: &FilesystemHaServices) -> Arc<dyn JobGraphStore> {
    let store = services.job_graph_store();
    store
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    store
}

async fn put_graph(services: &FilesystemHaServices) {
    let graph = JobGraph {
        job_id: job(),
        name: "wordcount".to_owned(),
        payload: Bytes::from_static(b"payload"),
    };
    let store = graphs(services).await;
    store.put_job_graph(&graph).await.unwrap();
    store.stop().await.unwrap();
}

fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
    found
}

#[tokio::test]
async fn a_second_process_is_kept_out_until_the_first_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let first = open(directory.path()).await.unwrap();
    let error = open(directory.path()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.subject().unwrap().ends_with("/default"), "{error}");
    assert!(error.is_safe_to_repeat());
    let neighbour = configuration(directory.path()).with("high-availability.cluster-id", "other");
    FilesystemHaServices::open(&neighbour, Environment::system())
        .await
        .unwrap();

    let late_store = first.job_result_store();
    first.close().await.unwrap();
    drop(first);
    let error = open(directory.path()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict, "somebody may still write");
    drop(late_store);
    open(directory.path()).await.unwrap();
}

#[tokio::test]
async fn data_outlives_the_services_and_leadership_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let services = open(directory.path()).await.unwrap();
    put_graph(&services).await;
    let election = services.dispatcher_leader_election();
    let contender = RecordingContender::confirming("a:1");
    contender.contend(&election).await;
    let session = contender.wait_for_grant().await;
    services.close().await.unwrap();
    assert!(!election.has_leadership(session).await);
    drop(services);

    let services = open(directory.path()).await.unwrap();
    let recovered = graphs(&services).await.recover_job_graph(job()).await.unwrap();
    assert_eq!(recovered.unwrap().payload.as_ref(), b"payload");
    let election = services.dispatcher_leader_election();
    let contender = RecordingContender::confirming("a:2");
    contender.contend(&election).await;
    assert_ne!(contender.wait_for_grant().await, session);
}

#[tokio::test]
async fn an_ended_job_is_cleaned_up_even_when_its_checkpoints_are_unreadable() {
    let directory = tempfile::tempdir().unwrap();
    let services = open(directory.path()).await.unwrap();
    put_graph(&services).await;
    let checkpoints = directory
        .path()
        .join(format!("default/jobs/{}/checkpoints", job()));
    std::fs::create_dir_all(&checkpoints).unwrap();
    let torn = checkpoints.join("0000000000000000001-6a1f2f0c-59a4-4d4b-8f8e-111111111111");
    std::fs::write(torn, "torn").unwrap();

    let early = services.global_cleanup(job()).await.unwrap_err();
    assert_eq!(early.kind(), ErrorKind::Invalid);
    let entry = JobResultEntry {
        result: JobResult {
            job_id: job(),
            name: "wordcount".to_owned(),
            application_status: ApplicationStatus::Failed,
            net_runtime: 1,
            end_time: 1,
            failure_cause: None,
        },
        job_digest: None,
    };
    services
        .job_result_store()
        .create_dirty_result(&entry)
        .await
        .unwrap();
    services.global_cleanup(job()).await.unwrap();
    services.global_cleanup(job()).await.unwrap();
    let left = files_below(directory.path());
    assert_eq!(left.len(), 2, "identity and result: {left:?}");
    services.close_and_cleanup_all_data().await.unwrap();
    services.close_and_cleanup_all_data().await.unwrap();
    assert!(files_below(directory.path()).is_empty());
}

#[tokio::test]
async fn foreign_files_are_left_and_reported_by_the_clean_up_of_all() {
    let directory = tempfile::tempdir().unwrap();
    let services = open(directory.path()).await.unwrap();
    put_graph(&services).await;
    let foreign = directory.path().join("default/notes.txt");
    std::fs::write(&foreign, "mine").unwrap();
    let error = services.close_and_cleanup_all_data().await.unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(files_below(directory.path()), [foreign.to_str().unwrap()]);
}

#[tokio::test]
async fn a_directory_is_required_and_must_be_local() {
    let without = Configuration::new().with("high-availability", "filesystem");
    let in_memory = without.clone().with("high-availability.storageDir", "memory:///");
    for configuration in [without, in_memory] {
        let error = FilesystemHaServices::open(&configuration, Environment::system())
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.subject(), Some("high-availability.storageDir"), "{error}");
    }
}

#[tokio::test]
async fn what_interrupted_writes_left_goes_with_its_job() {
    let directory = tempfile::tempdir().unwrap();
    let services = open(directory.path()).await.unwrap();
    put_graph(&services).await;
    let cluster = directory.path().join("default");
    for folder in [
        format!("blobs/{}", job()),
        format!("jobs/{}/checkpoints", job()),
        format!("jobs/{}", job()),
    ] {
        let folder = cluster.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(".upload-x"), "half").unwrap();
        std::fs::write(folder.join("x#1"), "half").unwrap();
    }
    let result = JobResult {
        job_id: job(),
        name: String::new(),
        application_status: ApplicationStatus::Succeeded,
        net_runtime: 0,
        end_time: 0,
        failure_cause: None,
    };
    let entry = JobResultEntry {
        result,
        job_digest: None,
    };
    services
        .job_result_store()
        .create_dirty_result(&entry)
        .await
        .unwrap();
    services.global_cleanup(job()).await.unwrap();
    let left = files_below(&cluster);
    assert!(
        left.iter().all(|file| !file.contains(&job().to_string())),
        "{left:?}"
    );
}

#[tokio::test]
async fn old_temporary_files_are_swept_when_services_open() {
    let directory = tempfile::tempdir().unwrap();
    let services = open(directory.path()).await.unwrap();
    put_graph(&services).await;
    services.close().await.unwrap();
    drop(services);
    let folder = directory.path().join("default/jobgraphs");
    let (old, young) = (folder.join("x#1"), folder.join("y#1"));
    std::fs::write(&young, "half").unwrap();
    std::fs::write(&old, "half").unwrap();
    let day = std::time::Duration::from_secs(24 * 3600);
    let written = std::fs::metadata(&old).unwrap().modified().unwrap();
    std::fs::File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(written - day)
        .unwrap();
    let services = open(directory.path()).await.unwrap();
    assert!(!old.exists());
    assert!(young.exists());
    services.close().await.unwrap();
}

#[tokio::test]
async fn b46_the_folder_of_a_cluster_on_zookeeper_is_refused() {
    // Its checkpoint files have the names of file-backed ones: they would be taken for these, and subsumed.
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().to_str().unwrap();
    let id = HighAvailabilityOptions::cluster_id(&configuration(directory.path())).unwrap();
    let storage = HaStorage::open(text, &id, &Environment::system()).await.unwrap();
    storage.identity_of_tree(Some("/flink/default")).await.unwrap();
    drop(storage);
    let before = files_below(directory.path());
    let error = open(directory.path()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.is_safe_to_repeat(), "{error}");
    assert!(error.message().contains("/flink/default"), "{error}");
    assert!(
        error.subject().unwrap().ends_with("default/identity.json"),
        "{error}"
    );
    assert_eq!(files_below(directory.path()), before);
}
