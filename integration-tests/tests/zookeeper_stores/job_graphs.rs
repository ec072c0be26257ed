//! Job graphs: replacing, broken entries, and other processes' changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::ids::JobId;
use ha_core::jobs::{ApplicationStatus, JobGraphListener, JobGraphStore as _, JobResultStore as _};
use ha_testkit::contract::{ended, graph, job};
use ha_testkit::fakes::{Gate, JobGraphEvent, TestEnvironment};
use ha_zookeeper::stores::{StoreContext, ZooKeeperJobGraphStore};
use integration_tests::AdminClient;

use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn b24_broken_entries_are_reported_and_left_and_hide_no_other() {
    let rig = Rig::new().await;
    let writer = rig.process().await;
    let graphs = writer.job_graphs().await;
    for number in 1..=9 {
        graphs
            .put_job_graph(&graph(job(number), "payload"))
            .await
            .unwrap();
    }
    let path = |number| rig.paths.job_graph(job(number));
    let file_of = |number: u8| rig.files_with(&job(number).to_string()).remove(0);
    let pointer = rig.admin.text(&path(9)).await.unwrap().unwrap();
    rig.admin.set(&path(1), b"").await.unwrap();
    rig.admin.set(&path(2), b"\xff\x00random").await.unwrap();
    std::fs::remove_file(file_of(3)).unwrap();
    let content = std::fs::read(file_of(4)).unwrap();
    std::fs::write(file_of(4), content.get(..10).unwrap()).unwrap();
    rig.admin
        .set(&path(5), br#"{"format":2,"kind":"jobGraph"}"#)
        .await
        .unwrap();
    // Of another job, of another cluster, of another kind.
    rig.admin.set(&path(6), pointer.as_bytes()).await.unwrap();
    let outside = pointer.replace("jobgraphs/", "../other/jobgraphs/");
    rig.admin.set(&path(7), outside.as_bytes()).await.unwrap();
    rig.admin
        .set(&path(8), pointer.replace("jobGraph", "checkpoint").as_bytes())
        .await
        .unwrap();
    let foreign = [
        "README".to_owned(),
        "AB".repeat(16),
        "0".repeat(31),
        "0".repeat(33),
        "00000000-0000-0000-0000-000000000001".to_owned(),
    ];
    for name in &foreign {
        rig.admin
            .create(&format!("{}/{name}", rig.paths.job_graphs()), b"x")
            .await
            .unwrap();
    }
    let (znodes, files) = (rig.znodes().await, rig.files());

    let reader = rig.process().await;
    let graphs = reader.job_graphs().await;
    let recovered = graphs.recover_job_graphs().await.unwrap();
    assert_eq!(recovered.entries, [graph(job(9), "payload")]);
    assert_eq!(
        recovered.broken.len(),
        8 + foreign.len(),
        "{:#?}",
        recovered.broken
    );
    let expected = [
        (1, "empty"),
        (2, "UTF-8"),
        (3, "missing"),
        (4, "cut off"),
        (5, "format 2"),
        (6, "belongs"),
        (7, "../other"),
        (8, "checkpoint"),
    ];
    for (number, reason) in expected {
        let entry = recovered
            .broken
            .iter()
            .find(|entry| entry.path == path(number))
            .unwrap();
        assert!(entry.reason.contains(reason), "{number}: {entry:?}");
        let error = graphs.recover_job_graph(job(number)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{number}");
        assert_eq!(error.subject(), Some(path(number).as_str()));
    }
    assert_eq!(
        reader.context.health.snapshot().broken.len(),
        recovered.broken.len()
    );
    let ids: Vec<_> = (1..=9).map(job).collect();
    assert_eq!(graphs.job_ids().await.unwrap(), ids);
    // Nothing was touched, and what is broken blocks nothing else.
    AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
    assert_eq!(rig.files(), files);
    graphs.put_job_graph(&graph(job(10), "a")).await.unwrap();
    assert_eq!(
        graphs
            .put_job_graph(&graph(job(1), "b"))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Corrupt
    );
    // What is taken away is no longer reported.
    for name in &foreign {
        rig.admin
            .delete(&format!("{}/{name}", rig.paths.job_graphs()))
            .await
            .unwrap();
    }
    graphs.recover_job_graphs().await.unwrap();
    assert_eq!(reader.context.health.snapshot().broken.len(), 8);
    rig.admin.delete(&path(1)).await.unwrap();
    assert_eq!(graphs.recover_job_graph(job(1)).await.unwrap(), None);
    assert_eq!(reader.context.health.snapshot().broken.len(), 7);
    for process in [writer, reader] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_knows_the_present_graph_replaces_or_removes_it() {
    let rig = Rig::new().await;
    let (one, two) = (rig.process().await, rig.process().await);
    let (first, second) = (one.job_graphs().await, two.job_graphs().await);
    first.put_job_graph(&graph(job(1), "a")).await.unwrap();
    first.put_job_graph(&graph(job(1), "b")).await.unwrap();
    let error = second.put_job_graph(&graph(job(1), "c")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        second.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    second.recover_job_graph(job(1)).await.unwrap().unwrap();
    second.put_job_graph(&graph(job(1), "c")).await.unwrap();
    // The version is the same as before, the pointer is not.
    let error = first.put_job_graph(&graph(job(1), "d")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        first.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(rig.files_with("/jobgraphs/").len(), 1);
    second.release_job_graph(job(1)).await.unwrap();
    assert_eq!(
        second.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    second.recover_job_graph(job(1)).await.unwrap().unwrap();
    second.remove_job_graph(job(1)).await.unwrap();
    second.remove_job_graph(job(1)).await.unwrap();
    assert!(rig.files_with("/jobgraphs/").is_empty());
    for process in [one, two] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_of_one_leading_process_do_not_overwrite_each_other() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let (first, second) = (leader.job_graphs().await, leader.job_graphs().await);
    first.put_job_graph(&graph(job(1), "a")).await.unwrap();
    second.recover_job_graph(job(1)).await.unwrap().unwrap();
    second.put_job_graph(&graph(job(1), "b")).await.unwrap();
    let error = first.put_job_graph(&graph(job(1), "c")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        first.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "b"))
    );
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn others_changes_are_told_and_own_ones_are_not() {
    let rig = Rig::new().await;
    let (listening, other) = (rig.process().await, rig.process().await);
    let (own, others) = (listening.job_graphs().await, other.job_graphs().await);
    own.put_job_graph(&graph(job(1), "own")).await.unwrap();
    own.put_job_graph(&graph(job(1), "own again")).await.unwrap();
    own.remove_job_graph(job(1)).await.unwrap();
    others.put_job_graph(&graph(job(2), "a")).await.unwrap();
    listening.listener.wait_for(JobGraphEvent::Added(job(2))).await;
    own.put_job_graph(&graph(job(3), "own")).await.unwrap();
    others.put_job_graph(&graph(job(2), "b")).await.unwrap();
    listening.listener.wait_for_count(2).await;
    // The end of a job is no change of its graph.
    let end = ended(job(2), ApplicationStatus::Succeeded);
    other.results.create_dirty_result(&end).await.unwrap();
    others.remove_job_graph(job(2)).await.unwrap();
    listening.listener.wait_for(JobGraphEvent::Removed(job(2))).await;
    let expected = [
        JobGraphEvent::Added(job(2)),
        JobGraphEvent::Added(job(2)),
        JobGraphEvent::Removed(job(2)),
    ];
    assert_eq!(listening.listener.events(), expected);
    own.stop().await.unwrap();
    others.put_job_graph(&graph(job(4), "a")).await.unwrap();
    assert_eq!(listening.listener.events(), expected);
    for process in [listening, other] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b25_entries_that_vanish_while_they_are_read_are_not_there() {
    let rig = Rig::new().await;
    let (one, two) = (rig.process().await, rig.process().await);
    let (keeping, removing) = (one.job_graphs().await, two.job_graphs().await);
    for number in 1..=120 {
        removing.put_job_graph(&graph(job(number), "a")).await.unwrap();
    }
    let remove = async {
        for number in 1..=100 {
            removing.remove_job_graph(job(number)).await.unwrap();
        }
    };
    let recover = async {
        loop {
            let recovered = keeping.recover_job_graphs().await.unwrap();
            assert!(recovered.broken.is_empty(), "{:?}", recovered.broken);
            assert!(recovered.entries.len() >= 20);
            if recovered.entries.len() == 20 {
                break;
            }
        }
    };
    tokio::join!(remove, recover);
    for process in [one, two] {
        process.session.close().await;
    }
}

/// Stops its store at the first call.
struct StopsItself {
    store: std::sync::OnceLock<Arc<ZooKeeperJobGraphStore>>,
    stopped: tokio::sync::Notify,
    calls: AtomicUsize,
}

#[async_trait::async_trait]
impl JobGraphListener for StopsItself {
    async fn on_added_job_graph(&self, _: JobId) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.store.get().unwrap().stop().await.unwrap();
        self.stopped.notify_one();
    }

    async fn on_removed_job_graph(&self, _: JobId) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_inside_a_callback_does_not_wait_for_itself() {
    let rig = Rig::new().await;
    let (one, two) = (rig.process().await, rig.process().await);
    let listener = Arc::new(StopsItself {
        store: std::sync::OnceLock::new(),
        stopped: tokio::sync::Notify::new(),
        calls: AtomicUsize::new(0),
    });
    let store = Arc::new(ZooKeeperJobGraphStore::new(one.context.clone()));
    assert!(listener.store.set(Arc::clone(&store)).is_ok());
    store.start(Arc::clone(&listener) as _).await.unwrap();
    let others = two.job_graphs().await;
    for number in [1, 2] {
        others.put_job_graph(&graph(job(number), "a")).await.unwrap();
    }
    listener.stopped.notified().await;
    store.stop().await.unwrap();
    assert_eq!(listener.calls.load(Ordering::SeqCst), 1);
    for process in [one, two] {
        process.session.close().await;
    }
}

/// Does not return from a callback until it may.
#[derive(Default)]
struct Stuck {
    called: tokio::sync::Notify,
    gate: Gate,
}

#[async_trait::async_trait]
impl JobGraphListener for Stuck {
    async fn on_added_job_graph(&self, _: JobId) {
        self.called.notify_one();
        self.gate.pass().await;
    }

    async fn on_removed_job_graph(&self, _: JobId) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_reports_a_callback_that_does_not_return_and_waits_no_longer() {
    let rig = Rig::new().await;
    let (one, two) = (rig.process().await, rig.process().await);
    let test = TestEnvironment::manual(1);
    let store = Arc::new(ZooKeeperJobGraphStore::new(StoreContext {
        environment: test.environment.clone(),
        ..one.context.clone()
    }));
    let listener = Arc::new(Stuck::default());
    store.start(Arc::clone(&listener) as _).await.unwrap();
    let others = two.job_graphs().await;
    others.put_job_graph(&graph(job(1), "a")).await.unwrap();
    listener.called.notified().await;
    let (stopped, ()) = tokio::join!(store.stop(), async {
        test.clock.wait_for_sleepers(1).await;
        assert!(test.fatal.errors().is_empty());
        test.clock.advance(Duration::from_secs(30));
    });
    stopped.unwrap();
    assert_eq!(test.fatal.errors().len(), 1);
    listener.gate.open();
    store.stop().await.unwrap();
    for process in [one, two] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reading_of_the_listener_follows_a_sync() {
    let rig = Rig::new().await;
    let (listening, other) = (rig.process().await, rig.process().await);
    let _own = listening.job_graphs().await;
    let others = other.job_graphs().await;
    for number in [1, 2] {
        others.put_job_graph(&graph(job(number), "a")).await.unwrap();
        listening
            .listener
            .wait_for(JobGraphEvent::Added(job(number)))
            .await;
    }
    let counts = listening.clients.take_counts();
    let count = |kind| counts.get(kind).copied().unwrap_or(0);
    assert!(
        count("watch") >= 2 && count("sync") >= count("list") + count("watch"),
        "{counts:?}"
    );
    for process in [listening, other] {
        process.session.close().await;
    }
}
