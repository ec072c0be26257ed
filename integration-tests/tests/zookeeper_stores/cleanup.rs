//! Clean-up of a job and of a cluster: all of it, nothing else, as often as one likes (I8, I11).

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use ha_core::election::LeaderContender;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, ComponentId, LeaderSessionId};
use ha_core::jobs::{ApplicationStatus, JobStatus};
use ha_core::services::HighAvailabilityServices;
use ha_core::{Error, ErrorKind};
use ha_testkit::contract::{checkpoint, ended, graph, job};
use ha_testkit::fakes::{RecordingFatalErrorHandler, RecordingJobGraphListener};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::AdminClient;

use crate::rig::Rig;

/// Gives a job of this number everything that a job has.
pub(crate) async fn fill(services: &Arc<ZooKeeperHaServices>, number: u8) {
    let graphs = services.job_graph_store();
    graphs
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    graphs.put_job_graph(&graph(job(number), "a")).await.unwrap();
    graphs.stop().await.unwrap();
    let factory = services.checkpoint_recovery_factory();
    let counter = factory.create_checkpoint_id_counter(job(number)).await.unwrap();
    counter.start().await.unwrap();
    let store = factory
        .create_recovered_completed_checkpoint_store(job(number), 3)
        .await
        .unwrap();
    for _ in 0..3 {
        let id = counter.get_and_increment().await.unwrap();
        store
            .add_and_subsume(checkpoint(job(number), id.get()))
            .await
            .unwrap();
    }
    services
        .running_jobs_registry()
        .set_job_running(job(number))
        .await
        .unwrap();
    let blobs = services.create_blob_store().await.unwrap();
    let source = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(source.path(), b"library").unwrap();
    let key = blobs.create_key(source.path()).await.unwrap();
    assert!(blobs.put(source.path(), job(number), &key).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_cleaned_up_whole_once_its_end_is_recorded_and_another_is_not_touched() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    fill(&services, 2).await;
    let blobs = rig.directory.path().join(rig.cluster_id.as_str()).join("blobs");
    let interrupted = blobs
        .join(job(1).to_string())
        .join(".upload-of-a-process-that-ended");
    std::fs::write(&interrupted, b"half").unwrap();
    let listener = Arc::new(RecordingJobGraphListener::new());
    let watching = services.job_graph_store();
    watching.start(Arc::clone(&listener) as _).await.unwrap();
    let error = services.global_cleanup(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.is_safe_to_repeat());
    let results = services.job_result_store();
    results
        .create_dirty_result(&ended(job(1), ApplicationStatus::Succeeded))
        .await
        .unwrap();
    // Begun and cut off after the first step, as by a crash.
    let store = services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(job(1), 3)
        .await
        .unwrap();
    store.shutdown(JobStatus::Finished).await.unwrap();
    for _ in 0..2 {
        services.global_cleanup(job(1)).await.unwrap();
    }
    results.mark_result_as_clean(job(1)).await.unwrap();
    results.mark_result_as_clean(job(1)).await.unwrap();
    services.global_cleanup(job(1)).await.unwrap();
    let id = job(1).to_string();
    let left: Vec<_> = rig.znodes().await.into_iter().map(|node| node.path).collect();
    assert!(!left.iter().any(|path| path.contains(&id)), "{left:?}");
    let files: Vec<_> = rig.files_with(&id);
    assert_eq!(files.len(), 1, "the clean result only: {files:?}");
    assert!(results.has_clean_job_result_entry(job(1)).await.unwrap());
    // All of the other job is there.
    let store = services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(job(2), 3)
        .await
        .unwrap();
    assert_eq!(store.all().await.unwrap().len(), 3);
    assert_eq!(rig.files_with(&job(2).to_string()).len(), 5);
    assert_eq!(watching.job_ids().await.unwrap(), [job(2)]);
    watching.stop().await.unwrap();
    assert!(listener.events().is_empty(), "an own clean-up is an own change");
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn close_keeps_everything_and_is_repeatable() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    let (znodes, files) = (rig.znodes().await, rig.files());
    // `getLeaderPath`, and the reserved `getClusterConfigurationStorePath`.
    let leader_path = services.leader_path(&ComponentId::dispatcher());
    assert_eq!(leader_path, format!("{}/leader/dispatcher", rig.paths.cluster()));
    assert!(rig.admin.get(&leader_path).await.unwrap().is_some());
    let reserved = services.cluster_configuration_store_path();
    assert_eq!(reserved, format!("{}/configuration", rig.paths.cluster()));
    assert!(rig.admin.get(&reserved).await.unwrap().is_none());
    services.close().await.unwrap();
    services.close().await.unwrap();
    AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
    assert_eq!(rig.files(), files);
    // Latch and leader information went with the close.
    assert!(rig.admin.children(&rig.paths.latches()).await.unwrap().is_empty());
    let info = rig.paths.connection_info(&ComponentId::dispatcher());
    assert!(rig.admin.get(&info).await.unwrap().is_none());
    let error = services
        .running_jobs_registry()
        .set_job_running(job(2))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Closed | ErrorKind::NotLeader),
        "{error}"
    );
    let retriever = services.dispatcher_leader_retriever();
    let listener = ha_testkit::fakes::RecordingListener::new();
    assert_eq!(
        retriever.start(listener).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_removed_whole_and_its_neighbours_are_not_touched() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    fill(&services, 2).await;
    services
        .job_result_store()
        .create_dirty_result(&ended(job(2), ApplicationStatus::Canceled))
        .await
        .unwrap();
    // In the same root and storage directory, with a name that begins alike.
    let neighbour_id = ClusterId::new(&format!("{}-2", rig.cluster_id)).unwrap();
    let neighbour_paths = ClusterPaths::new("/ha-test", "/stores", &neighbour_id).unwrap();
    let configuration = rig.configuration_of(&neighbour_id, rig.directory.path());
    let neighbour = ZooKeeperHaServices::connect(&configuration, Environment::system())
        .await
        .unwrap();
    fill(&neighbour, 1).await;
    let before = rig.admin.walk(neighbour_paths.cluster()).await.unwrap();
    let files = rig.files_with(neighbour_id.as_str());

    // Not beside another process that contends.
    let other = rig.services().await;
    let error = other.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{error}");
    assert_eq!(rig.admin.children(&rig.paths.latches()).await.unwrap().len(), 1);
    services.close().await.unwrap();
    other.close_and_cleanup_all_data().await.unwrap();
    other.close_and_cleanup_all_data().await.unwrap();
    other.close().await.unwrap();
    assert!(rig.admin.walk(rig.paths.cluster()).await.unwrap().is_empty());
    assert_eq!(rig.files(), files);
    let after = rig.admin.walk(neighbour_paths.cluster()).await.unwrap();
    AdminClient::expect_unchanged(&before, &after).unwrap();
    // The leader itself may do it too, and with nothing there it is done.
    neighbour.close_and_cleanup_all_data().await.unwrap();
    assert!(rig.files().is_empty());
    rig.leading_services()
        .await
        .close_and_cleanup_all_data()
        .await
        .unwrap();
    assert!(rig.admin.walk(rig.paths.cluster()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_what_is_not_of_the_layout_is_left_and_named() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    let foreign = format!("{}/mine", rig.paths.jobs());
    rig.admin.create(&foreign, b"x").await.unwrap();
    let error = services.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains(&rig.paths.jobs()), "{error}");
    let left: Vec<_> = rig.admin.walk(rig.paths.cluster()).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|node| node.path).collect();
    assert_eq!(left, [rig.paths.cluster(), &rig.paths.jobs(), &foreign]);
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_where_the_tree_is_not_here_the_files_of_the_one_elsewhere_are_left() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    let files = rig.files();
    let root = format!("/elsewhere-{}", rig.cluster_id);
    let configuration = rig
        .configuration()
        .with("high-availability.zookeeper.path.root", root.clone());
    let elsewhere = ZooKeeperHaServices::connect(&configuration, Environment::system())
        .await
        .unwrap();
    let error = elsewhere.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(rig.files(), files);
    // A start with the wrong root makes nothing there.
    let error = elsewhere.cluster_uuid().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(rig.admin.get(&format!("/ha-test{root}")).await.unwrap(), None);
    elsewhere.close().await.unwrap();
    services.close().await.unwrap();
    // A tree that was made again says that one was lost.
    rig.admin.delete_tree(rig.paths.cluster()).await.unwrap();
    let services = rig.services().await;
    services.cluster_uuid().await.unwrap();
    let error = services.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(rig.files(), files);
    let identity = rig.admin.text(&rig.paths.identity()).await.unwrap().unwrap();
    let accepted = identity.replace(r#","treeLost":true"#, "");
    rig.admin
        .set(&rig.paths.identity(), accepted.as_bytes())
        .await
        .unwrap();
    services.close_and_cleanup_all_data().await.unwrap();
    assert!(rig.files().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_up_that_was_cut_off_is_repeated_to_its_end() {
    let rig = Rig::new().await;
    for with_tree in [true, false] {
        let services = rig.leading_services().await;
        fill(&services, 1).await;
        services.close().await.unwrap();
        // Its traces: the file of the identity goes before the last multi, the other files after it.
        std::fs::remove_file(rig.files_with("identity.json").remove(0)).unwrap();
        if !with_tree {
            rig.admin.delete_tree(rig.paths.cluster()).await.unwrap();
        }
        let services = rig.services().await;
        services.close_and_cleanup_all_data().await.unwrap();
        assert!(rig.files().is_empty());
        assert!(rig.admin.walk(rig.paths.cluster()).await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_nothing_is_removed_beside_a_process_that_contends_in_a_named_election() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    services.close().await.unwrap();
    let named = rig
        .paths
        .for_named_election(&ComponentId::custom("reports").unwrap());
    let latch = named.latch("00000000-0000-0000-0000-000000000001-latch-0000000000");
    rig.admin.create(&named.latches(), b"").await.unwrap();
    rig.admin.create(&latch, b"").await.unwrap();
    let (znodes, files) = (rig.znodes().await, rig.files());
    let services = rig.services().await;
    let error = services.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{error}");
    assert_eq!(error.subject(), Some(latch.as_str()));
    AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
    assert_eq!(rig.files(), files);
    rig.admin.delete(&latch).await.unwrap();
    services.close_and_cleanup_all_data().await.unwrap();
    assert!(rig.files().is_empty());
    assert!(rig.admin.walk(rig.paths.cluster()).await.unwrap().is_empty());
}

/// Closes its services when it is revoked.
#[derive(Default)]
struct ClosesServices {
    services: OnceLock<Arc<ZooKeeperHaServices>>,
    granted: tokio::sync::Notify,
}

#[async_trait]
impl LeaderContender for ClosesServices {
    async fn grant_leadership(&self, _: LeaderSessionId) {
        self.granted.notify_one();
    }

    async fn revoke_leadership(&self) {
        self.services.get().unwrap().close().await.unwrap();
    }

    fn address(&self) -> String {
        "http://closes:1".to_owned()
    }

    async fn handle_error(&self, _: Error) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_may_close_the_services_that_are_being_closed() {
    let rig = Rig::new().await;
    let fatal = RecordingFatalErrorHandler::new();
    let environment = Environment::system().with_fatal_error_handler(Arc::new(fatal.clone()));
    let configuration = rig
        .configuration()
        .with("high-availability.revoke-timeout", "5 s");
    let services = ZooKeeperHaServices::connect(&configuration, environment)
        .await
        .unwrap();
    let contender = Arc::new(ClosesServices::default());
    assert!(contender.services.set(Arc::clone(&services)).is_ok());
    let election = services.dispatcher_leader_election();
    election.start(Arc::clone(&contender) as _).await.unwrap();
    contender.granted.notified().await;
    services.close().await.unwrap();
    assert!(fatal.errors().is_empty(), "{:?}", fatal.errors());
    assert!(rig.admin.children(&rig.paths.latches()).await.unwrap().is_empty());
}
