//! Known failures of pointer stores that need whole processes, by their numbers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::ids::JobId;
use ha_core::jobs::{ApplicationStatus, JobSchedulingStatus};
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::{checkpoint, checkpoint_id, ended, files_below, graph, job};
use integration_tests::ensemble::{LinkState, ServerRole};
use integration_tests::proxy::{Direction, RequestKind};
use integration_tests::{Ensemble, EnsembleOptions, pause, scaled};

use crate::rig::{Cluster, Member};

/// FLINK-10011. Locks of a former leader whose session still lives kept a finished job from being removed, and it ran
/// again. Here nobody locks anything: what the next leader has ended and cleaned up stays away, although the one
/// before is only cut off.
#[tokio::test(flavor = "multi_thread")]
async fn b23_a_finished_job_stays_away_although_a_former_leader_lives() {
    let cluster = Cluster::new().await;
    let former = cluster.leader("former").await;
    let graphs = former.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let held = former.checkpoints(job(1), 1).await;
    held.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let latches = cluster.admin.children(&cluster.paths.latches()).await.unwrap();
    former.proxy.hold(Direction::ToServer, true);
    former.proxy.hold(Direction::ToClient, true);
    cluster
        .admin
        .delete(&cluster.paths.latch(&latches[0]))
        .await
        .unwrap();

    let next = cluster.leader("next").await;
    let graphs_of_next = next.job_graphs().await;
    let recovered = graphs_of_next.recover_job_graph(job(1)).await.unwrap();
    assert_eq!(recovered, Some(graph(job(1), "a")));
    let results = next.services.job_result_store();
    let end = ended(job(1), ApplicationStatus::Canceled);
    results.create_dirty_result(&end).await.unwrap();
    next.services.global_cleanup(job(1)).await.unwrap();
    results.mark_result_as_clean(job(1)).await.unwrap();
    next.services.close().await.unwrap();

    former.proxy.hold(Direction::ToServer, false);
    former.proxy.hold(Direction::ToClient, false);
    former.contender.wait_for_grants(2).await;
    assert_eq!(graphs.recover_job_graph(job(1)).await.unwrap(), None);
    assert!(graphs.job_ids().await.unwrap().is_empty());
    let recovered = former.checkpoints(job(1), 1).await.latest().await.unwrap();
    assert_eq!(recovered, None);
    let found = former.services.job_result_store().job_result_entry(job(1)).await;
    assert_eq!(found.unwrap(), Some(end));
    former.services.close().await.unwrap();
}

/// FLINK-26916, FLINK-6662. The stored graph outweighs a new submission under its id, until it was recovered; one of a
/// newer version is named, and is never "no jobs".
#[tokio::test(flavor = "multi_thread")]
async fn b26_a_stored_graph_outweighs_a_submission_and_a_newer_format_is_named() {
    let cluster = Cluster::new().await;
    let first = cluster.leader("first").await;
    let stored = graph(job(1), "parallelism 1");
    first.job_graphs().await.put_job_graph(&stored).await.unwrap();
    first.services.close().await.unwrap();

    let second = cluster.leader("second").await;
    let graphs = second.job_graphs().await;
    let submitted = graph(job(1), "parallelism 2");
    let error = graphs.put_job_graph(&submitted).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.advice().contains("recover it first"), "{error}");
    assert_eq!(graphs.recover_job_graph(job(1)).await.unwrap(), Some(stored));
    graphs.put_job_graph(&submitted).await.unwrap();

    let path = cluster.paths.job_graph(job(1));
    let pointer = cluster.admin.text(&path).await.unwrap().unwrap();
    let newer = pointer.replacen("\"format\":1", "\"format\":2", 1);
    cluster.admin.set(&path, newer.as_bytes()).await.unwrap();
    let recovered = second.job_graphs().await.recover_job_graphs().await.unwrap();
    assert!(recovered.entries.is_empty());
    assert_eq!(recovered.broken.len(), 1);
    assert!(recovered.broken[0].reason.contains("format 2"), "{recovered:?}");
    assert_eq!(graphs.job_ids().await.unwrap(), [job(1)]);
    let error = second
        .job_graphs()
        .await
        .put_job_graph(&submitted)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(cluster.admin.text(&path).await.unwrap().unwrap(), newer);
    second.services.close().await.unwrap();
}

/// fluss#4335. A server hangs up on what is too long, which looks like a lost connection and was sent again for ever.
/// Here it is cut to a bound or refused before it is sent; connection and leadership stay.
#[tokio::test(flavor = "multi_thread")]
async fn b27_what_is_too_long_is_cut_or_refused_before_it_is_sent() {
    const LONG: usize = 2_000_000;
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let connects = leader.proxy.seen(RequestKind::Connect);
    let graphs = leader.job_graphs().await;
    let mut long = graph(job(1), "payload");
    long.name = "n".repeat(60_000);
    graphs.put_job_graph(&long).await.unwrap();
    assert_eq!(
        graphs.recover_job_graph(job(1)).await.unwrap(),
        Some(long.clone())
    );
    long.name = "n".repeat(LONG);
    let error = graphs.put_job_graph(&long).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(
        error.is_safe_to_repeat() && error.message().contains("bytes"),
        "{error}"
    );
    let mut end = ended(job(1), ApplicationStatus::Failed);
    end.result.failure_cause = Some("c".repeat(LONG));
    let results = leader.services.job_result_store();
    results.create_dirty_result(&end).await.unwrap();
    assert_eq!(results.job_result_entry(job(1)).await.unwrap(), Some(end));
    let mut checkpoint = checkpoint(job(2), 1);
    checkpoint.payload = vec![7; LONG].into();
    let store = leader.checkpoints(job(2), 1).await;
    store.add_and_subsume(checkpoint.clone()).await.unwrap();
    let error = leader.confirm(&"a".repeat(LONG)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(
        error.subject().is_some() && error.message().contains("bytes"),
        "{error}"
    );
    assert!(leader.leads().await);
    assert_eq!(leader.contender.sessions().len(), 1);
    assert_eq!(leader.proxy.seen(RequestKind::Connect), connects);
    leader.services.close().await.unwrap();
}

fn file_of(cluster: &Cluster, job_id: JobId, part: &str) -> PathBuf {
    let mut files = files_below(cluster.storage.path());
    files.retain(|file| {
        let name = file.display().to_string();
        name.contains(part) && name.contains(&job_id.to_string())
    });
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// flink#15832, FLINK-6662. The error of a pointer without its file names znode, file and reason and says what to do;
/// one place is one place however its path is written.
#[tokio::test(flavor = "multi_thread")]
async fn b31_a_pointer_without_its_file_says_which_and_why() {
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let graphs = leader.job_graphs().await;
    let store = leader.checkpoints(job(1), 1).await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    store.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let checkpoint_path = cluster.paths.checkpoint(job(1), checkpoint_id(1));
    let places = [
        (
            cluster.paths.job_graph(job(1)),
            file_of(&cluster, job(1), "/jobgraphs/"),
        ),
        (
            checkpoint_path.clone(),
            file_of(&cluster, job(1), "/checkpoints/"),
        ),
    ];
    type Damage = fn(&Path);
    let missing: Damage = |file| std::fs::remove_file(file).unwrap();
    let dangling: Damage = |file| {
        std::fs::remove_file(file).unwrap();
        std::os::unix::fs::symlink("/nowhere", file).unwrap();
    };
    let folder: Damage = |file| {
        std::fs::remove_file(file).unwrap();
        std::fs::create_dir(file).unwrap();
    };
    for (number, damage) in [missing, dangling, folder].into_iter().enumerate() {
        for (znode, file) in &places {
            let content = std::fs::read(file).unwrap();
            damage(file);
            let factory = leader.services.checkpoint_recovery_factory();
            let error = match *znode == checkpoint_path {
                true => factory
                    .create_recovered_completed_checkpoint_store(job(1), 1)
                    .await
                    .err(),
                false => graphs.recover_job_graph(job(1)).await.err(),
            };
            let error = error.unwrap_or_else(|| panic!("damage {number} of {znode}"));
            let text = format!("{error} {:?} {}", error.subject(), error.advice());
            assert!(text.contains(znode.as_str()), "damage {number}: {text}");
            assert!(text.contains(file.to_str().unwrap()), "damage {number}: {text}");
            assert!(text.contains("hactl"), "damage {number}: {text}");
            assert!(cluster.admin.get(znode).await.unwrap().is_some());
            match std::fs::symlink_metadata(file) {
                Ok(there) if there.is_dir() => std::fs::remove_dir(file).unwrap(),
                Ok(_) => std::fs::remove_file(file).unwrap(),
                Err(_) => {}
            }
            std::fs::write(file, content).unwrap();
        }
    }
    leader.services.close().await.unwrap();
    let path = cluster.storage.path().display().to_string();
    let servers = cluster.ensemble.connect_string();
    let (parent, name) = path.rsplit_once('/').unwrap();
    for spelled in [
        format!("{path}/"),
        format!("{parent}//{name}"),
        format!("file://{path}"),
        format!("file://{path}/"),
    ] {
        let reader = cluster.member_with("b", &servers, &spelled).await;
        let recovered = reader.job_graphs().await.recover_job_graph(job(1)).await;
        assert_eq!(recovered.unwrap(), Some(graph(job(1), "a")), "{spelled}");
        reader.services.close().await.unwrap();
    }
}

/// FLINK-6027, FLINK-20992. An old file that cannot be deleted fails no new checkpoint, and is deleted with a later one.
#[tokio::test(flavor = "multi_thread")]
async fn b34_an_old_file_that_cannot_be_deleted_fails_no_checkpoint_and_is_tried_again() {
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    for (number_of_job, retained) in [(1, 1), (2, 3)] {
        let id = job(number_of_job);
        let store = leader.checkpoints(id, retained).await;
        store.add_and_subsume(checkpoint(id, 9)).await.unwrap();
        let old = file_of(&cluster, id, "/checkpoints/");
        // Where a folder stands that is not empty, nothing can be deleted.
        std::fs::remove_file(&old).unwrap();
        std::fs::create_dir_all(old.join("in the way")).unwrap();
        let retained = u64::try_from(retained).unwrap();
        let expected = |newest: u64| -> Vec<_> {
            let oldest = 10.max(newest + 1 - retained);
            (oldest..=newest).map(|number| checkpoint(id, number)).collect()
        };
        for number in 10..=13 {
            store.add_and_subsume(checkpoint(id, number)).await.unwrap();
            // The ninth is not the newest by its name.
            let newest = leader.checkpoints(id, 3).await.latest().await.unwrap();
            assert_eq!(newest, Some(checkpoint(id, number)));
        }
        assert_eq!(store.all().await.unwrap(), expected(13));
        assert!(old.exists());
        std::fs::remove_dir_all(&old).unwrap();
        std::fs::write(&old, b"back").unwrap();
        store.add_and_subsume(checkpoint(id, 14)).await.unwrap();
        assert_eq!(store.all().await.unwrap(), expected(14));
        assert!(!old.exists(), "it is tried again");
    }
    leader.services.close().await.unwrap();
}

/// helix#1118, ZOOKEEPER-1675. A server that lags behind answers from an old tree; who recovers through it waits until
/// it knows what was acknowledged before. (Three are retained, so that the old list alone would be whole.)
#[tokio::test(flavor = "multi_thread")]
async fn b35_who_recovers_through_a_server_that_lags_behind_reads_what_was_acknowledged() {
    let options = EnsembleOptions::three().with_sync_limit(60).with_peer_links();
    let mut ensemble = Ensemble::start(options).await.unwrap();
    let leading = ensemble.leader().await.unwrap();
    let follower = (0..3).find(|index| *index != leading).unwrap();
    let mut address = |index| ensemble.server(index).unwrap().address().to_string();
    let (of_leader, of_follower) = (address(leading), address(follower));
    assert_eq!(
        ensemble.server(leading).unwrap().role().unwrap(),
        ServerRole::Leader
    );
    let cluster = Cluster::on(ensemble).await;
    let storage = cluster.storage.path().display().to_string();
    let writer = cluster.member_with("writer", &of_leader, &storage).await;
    writer.contend().await;
    writer.contender.wait_for_grant().await;
    let store = writer.checkpoints(job(1), 3).await;
    store.add_and_subsume(checkpoint(job(1), 10)).await.unwrap();
    let counter = writer.counter(job(1)).await;
    let standby = cluster.member_with("standby", &of_follower, &storage).await;
    let another = cluster.member_with("another", &of_follower, &storage).await;
    let before = standby.checkpoints(job(1), 3).await.latest().await.unwrap();
    assert_eq!(before, Some(checkpoint(job(1), 10)));

    let links = cluster.ensemble.links().unwrap();
    links.around(follower, LinkState::Held);
    store.add_and_subsume(checkpoint(job(1), 11)).await.unwrap();
    let id = counter.get_and_increment().await.unwrap();
    assert_eq!(id.get(), 11);
    let graphs = writer.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let registry = writer.services.running_jobs_registry();
    registry.set_job_running(job(1)).await.unwrap();
    let reading = async {
        // In a session of its own: a server answers the questions of one in order, and what waits is waited for by all.
        let registry = another.services.running_jobs_registry();
        let status = registry.job_scheduling_status(job(1));
        let graphs = standby.services.job_graph_store();
        let listener = ha_testkit::fakes::RecordingJobGraphListener::new();
        let started = async {
            graphs.start(std::sync::Arc::new(listener)).await?;
            graphs.recover_job_graph(job(1)).await
        };
        let factory = standby.services.checkpoint_recovery_factory();
        let store = factory.create_recovered_completed_checkpoint_store(job(1), 3);
        tokio::join!(biased; status, store, started)
    };
    let opening = async {
        // Long enough for an answer from the old tree, which would be wrong.
        pause(scaled(Duration::from_secs(1))).await;
        links.around(follower, LinkState::Open);
    };
    let ((status, store, recovered), ()) = tokio::join!(reading, opening);
    assert_eq!(status.unwrap(), JobSchedulingStatus::Running);
    let latest = store.unwrap().latest().await.unwrap();
    assert_eq!(latest, Some(checkpoint(job(1), 11)));
    assert_eq!(recovered.unwrap(), Some(graph(job(1), "a")));
    close(&[writer, standby, another]).await;
}

async fn close(members: &[Member]) {
    for member in members {
        member.services.close().await.unwrap();
    }
}
