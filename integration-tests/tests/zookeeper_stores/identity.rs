//! A tree and a storage of two clusters are never used together (design §6). B46: two clusters that were given the same
//! id, or one storage directory.

use std::sync::Arc;

use ha_core::environment::Environment;
use ha_core::jobs::JobGraphStore as _;
use ha_core::services::HighAvailabilityServices as _;
use ha_core::{Error, ErrorKind};
use ha_testkit::contract::{checkpoint, graph, job};
use ha_testkit::fakes::{RecordingContender, RecordingFatalErrorHandler};
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::AdminClient;

use crate::rig::Rig;

/// Whether a process with this storage leads; the fatal error otherwise.
async fn try_to_lead(rig: &Rig, storage: &std::path::Path) -> Result<Arc<ZooKeeperHaServices>, Error> {
    let fatal = Arc::new(RecordingFatalErrorHandler::default());
    let environment = Environment::system().with_fatal_error_handler(Arc::clone(&fatal) as _);
    let configuration = rig.configuration_of(&rig.cluster_id, storage);
    let services = ZooKeeperHaServices::connect(&configuration, environment)
        .await
        .unwrap();
    let contender = RecordingContender::confirming("http://x:1");
    contender.contend(&services.dispatcher_leader_election()).await;
    tokio::select! {
        _ = contender.wait_for_grant() => Ok(services),
        error = fatal.wait_for_kind(ErrorKind::Conflict) => {
            assert!(rig.admin.children(&rig.paths.latches()).await.unwrap().is_empty());
            services.close().await.unwrap();
            Err(error)
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_a_tree_and_a_storage_of_two_clusters_are_refused_naming_both() {
    let rig = Rig::new().await;
    let other = tempfile::tempdir().unwrap();
    let services = try_to_lead(&rig, rig.directory.path()).await.unwrap();
    let uuid = services.cluster_uuid().await.unwrap();
    services.close().await.unwrap();
    // Nothing there: the tree belongs to a storage that has gone.
    let error = try_to_lead(&rig, other.path()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("no identity.json"), "{error}");
    assert!(
        !other
            .path()
            .join(rig.cluster_id.as_str())
            .join("identity.json")
            .exists()
    );
    // Another cluster's.
    let elsewhere = Rig::new().await;
    let configuration = rig.configuration_of(&rig.cluster_id, other.path());
    let configuration = configuration.with("high-availability.zookeeper.path.root", "/elsewhere");
    let second = ZooKeeperHaServices::connect(&configuration, Environment::system())
        .await
        .unwrap();
    let second_uuid = second.cluster_uuid().await.unwrap();
    assert_ne!(uuid, second_uuid);
    let before = rig.znodes().await;
    let error = try_to_lead(&rig, other.path()).await.err().unwrap();
    let text = error.message();
    assert!(
        text.contains(&uuid.to_string()) && text.contains(&second_uuid.to_string()),
        "{text}"
    );
    // Nor does it write without an election, or clean up.
    let configuration = rig.configuration_of(&rig.cluster_id, other.path());
    let plain = ZooKeeperHaServices::connect(&configuration, Environment::system())
        .await
        .unwrap();
    let error = plain
        .running_jobs_registry()
        .set_job_running(job(1))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let error = plain.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    plain.close().await.unwrap();
    AdminClient::expect_unchanged(&before, &rig.znodes().await).unwrap();
    second.close_and_cleanup_all_data().await.unwrap();
    drop(elsewhere);
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_one_storage_directory_below_two_roots_is_refused_naming_both() {
    let rig = Rig::new().await;
    // Before there is any state file, by which a lost tree would be noticed.
    let first = try_to_lead(&rig, rig.directory.path()).await.unwrap();
    let fatal = Arc::new(RecordingFatalErrorHandler::default());
    let environment = Environment::system().with_fatal_error_handler(Arc::clone(&fatal) as _);
    let root = format!("/second-{}", rig.cluster_id);
    let configuration = rig
        .configuration()
        .with("high-availability.zookeeper.path.root", root.clone());
    let second = ZooKeeperHaServices::connect(&configuration, environment)
        .await
        .unwrap();
    let contender = RecordingContender::confirming("http://second:1");
    contender.contend(&second.dispatcher_leader_election()).await;
    let error = fatal.wait_for_kind(ErrorKind::Conflict).await;
    for cluster in [rig.paths.cluster(), second.paths().cluster()] {
        assert!(error.message().contains(cluster), "{error}");
    }
    assert!(contender.sessions().is_empty());
    assert_eq!(rig.admin.get(&format!("/ha-test{root}")).await.unwrap(), None);
    second.close().await.unwrap();
    // Nor does it write without an election, or clean up.
    let plain = ZooKeeperHaServices::connect(&configuration, Environment::system())
        .await
        .unwrap();
    let registry = plain.running_jobs_registry();
    let error = registry.set_job_running(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    let error = plain.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    plain.close().await.unwrap();
    // The first one goes on.
    let registry = first.running_jobs_registry();
    registry.set_job_running(job(1)).await.unwrap();
    first.close_and_cleanup_all_data().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b46_a_job_id_that_all_use_is_one_job_and_nobody_recovers_anothers() {
    let zero = job(0);
    assert_eq!(zero.to_string(), "0".repeat(32));
    let (one, other) = (Rig::new().await, Rig::new().await);
    for (rig, payload) in [(&one, "one"), (&other, "other")] {
        let leader = rig.leader().await;
        let graphs = leader.job_graphs().await;
        graphs.put_job_graph(&graph(zero, payload)).await.unwrap();
        let store = leader.checkpoints(zero, 1).await;
        store.add_and_subsume(checkpoint(zero, 1)).await.unwrap();
        // A second submission of the cluster is not taken for the first one.
        let again = leader.job_graphs().await;
        let error = again.put_job_graph(&graph(zero, "another")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        leader.session.close().await;
    }
    for (rig, payload) in [(&one, "one"), (&other, "other")] {
        let process = rig.process().await;
        let graphs = process.job_graphs().await;
        let recovered = graphs.recover_job_graph(zero).await.unwrap();
        assert_eq!(recovered, Some(graph(zero, payload)));
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_is_not_ours_is_refused_and_left() {
    let rig = Rig::new().await;
    let flink = format!("{}/jobgraphs", rig.paths.cluster());
    rig.admin.create(&flink, b"").await.unwrap();
    let before = rig.znodes().await;
    let error = try_to_lead(&rig, rig.directory.path()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("jobgraphs"), "{error}");
    AdminClient::expect_unchanged(&before, &rig.znodes().await).unwrap();
    assert!(rig.files_with("identity.json").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_tree_is_made_again_and_the_cluster_is_degraded() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    leader
        .checkpoints(job(1), 1)
        .await
        .add_and_subsume(checkpoint(job(1), 1))
        .await
        .unwrap();
    let text = rig.admin.text(&rig.paths.identity()).await.unwrap().unwrap();
    assert!(!text.contains("treeLost"), "{text}");
    leader.session.close().await;
    rig.admin.delete_tree(rig.paths.cluster()).await.unwrap();
    let services = try_to_lead(&rig, rig.directory.path()).await.unwrap();
    let again = rig.admin.text(&rig.paths.identity()).await.unwrap().unwrap();
    assert_eq!(again, text.replace('}', r#","treeLost":true}"#));
    assert!(services.health().snapshot().is_degraded());
    // The file of the lost pointer is still the highest id.
    let factory = services.checkpoint_recovery_factory();
    let counter = factory.create_checkpoint_id_counter(job(1)).await.unwrap();
    counter.start().await.unwrap();
    assert_eq!(counter.get().await.unwrap().get(), 2);
    services.close().await.unwrap();
}
