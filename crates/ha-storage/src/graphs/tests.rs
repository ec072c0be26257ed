use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::error::{Effect, ErrorKind};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::{
    ApplicationStatus, JobGraph, JobGraphListener, JobGraphStore, JobResult, JobResultEntry,
    JobResultStore as _,
};
use tokio::sync::mpsc;

use super::FileSystemJobGraphStore;
use crate::results::FileSystemJobResultStore;
use crate::test_support::{LocalStorage, job, open};

mod trouble;

const POLL: Duration = Duration::from_millis(10);
/// Long enough on a busy machine; reached only by a failure.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Added(JobId),
    Removed(JobId),
}

struct Listener(mpsc::UnboundedSender<Told>);

#[async_trait]
impl JobGraphListener for Listener {
    async fn on_added_job_graph(&self, job_id: JobId) {
        let _ = self.0.send(Told::Added(job_id));
    }

    async fn on_removed_job_graph(&self, job_id: JobId) {
        let _ = self.0.send(Told::Removed(job_id));
    }
}

struct Opened {
    store: Arc<FileSystemJobGraphStore>,
    results: Arc<FileSystemJobResultStore>,
    health: HealthMonitor,
    told: mpsc::UnboundedReceiver<Told>,
}

impl Opened {
    async fn told(&mut self) -> Told {
        tokio::time::timeout(PATIENCE, self.told.recv())
            .await
            .unwrap()
            .unwrap()
    }
}

/// A store of its own on the same directory, as another process has it; started.
async fn another(local: &LocalStorage) -> Opened {
    let storage = open(local.directory.path()).await;
    let health = HealthMonitor::default();
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, health.clone());
    let store = FileSystemJobGraphStore::new(storage, Arc::clone(&results) as _, POLL, health.clone());
    let (tell, told) = mpsc::unbounded_channel();
    store.start(Arc::new(Listener(tell))).await.unwrap();
    Opened {
        store,
        results,
        health,
        told,
    }
}

fn graph(number: u8, payload: &'static str) -> JobGraph {
    JobGraph {
        job_id: job(number),
        name: "wordcount\n".to_owned(),
        payload: Bytes::from(payload),
    }
}

fn file(local: &LocalStorage, number: u8) -> PathBuf {
    local.folder().join(format!("jobgraphs/{}.job", job(number)))
}

async fn end(opened: &Opened, number: u8) {
    let result = JobResult {
        job_id: job(number),
        name: String::new(),
        application_status: ApplicationStatus::Failed,
        net_runtime: 0,
        end_time: 0,
        failure_cause: None,
    };
    let entry = JobResultEntry {
        result,
        job_digest: None,
    };
    opened.results.create_dirty_result(&entry).await.unwrap();
}

#[tokio::test]
async fn a_graph_is_replaced_only_by_who_knows_its_present_content() {
    let local = LocalStorage::new().await;
    let (first, second) = (another(&local).await, another(&local).await);
    first.store.put_job_graph(&graph(1, "a")).await.unwrap();
    first.store.put_job_graph(&graph(1, "b")).await.unwrap();
    let error = second.store.put_job_graph(&graph(1, "c")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::AlreadyExists, Effect::NotApplied)
    );
    assert_eq!(
        second.store.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        second.store.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(1, "b"))
    );
    second.store.put_job_graph(&graph(1, "c")).await.unwrap();
    assert_eq!(
        first
            .store
            .put_job_graph(&graph(1, "d"))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        first.store.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    second.store.release_job_graph(job(1)).await.unwrap();
    assert_eq!(
        second.store.remove_job_graph(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        second.store.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(1, "c"))
    );
    second.store.remove_job_graph(job(1)).await.unwrap();
    second.store.remove_job_graph(job(1)).await.unwrap();
    assert!(local.files().is_empty());
}

#[tokio::test]
async fn a_job_that_has_ended_is_only_removed() {
    let local = LocalStorage::new().await;
    let (first, second) = (another(&local).await, another(&local).await);
    first.store.put_job_graph(&graph(1, "a")).await.unwrap();
    first.store.put_job_graph(&graph(2, "a")).await.unwrap();
    end(&first, 1).await;
    assert_eq!(first.store.recover_job_graph(job(1)).await.unwrap(), None);
    assert_eq!(
        second.store.recover_job_graphs().await.unwrap().entries,
        [graph(2, "a")]
    );
    assert_eq!(second.store.job_ids().await.unwrap(), [job(1), job(2)]);
    assert_eq!(
        first
            .store
            .put_job_graph(&graph(1, "b"))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
    // A clean-up after a restart knows nothing of the graph, which may be broken besides.
    std::fs::write(file(&local, 1), "").unwrap();
    second.store.remove_job_graph(job(1)).await.unwrap();
    assert!(!file(&local, 1).exists());
    assert_eq!(
        first
            .store
            .put_job_graph(&graph(1, "b"))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
}

#[tokio::test]
async fn bad_entries_are_reported_beside_the_good_ones() {
    let local = LocalStorage::new().await;
    let opened = another(&local).await;
    for number in 1..=9 {
        opened
            .store
            .put_job_graph(&graph(number, "payload"))
            .await
            .unwrap();
    }
    let whole = std::fs::read_to_string(file(&local, 1)).unwrap();
    let checkpoint = whole.replace("jobGraph", "checkpoint").replace("0101", "0505");
    let bad = [
        (1, String::new(), "empty"),
        (2, "random bytes".to_owned(), "foreign"),
        (3, whole[..10].to_owned(), "cut off"),
        (4, whole.replace("\"format\":1", "\"format\":9"), "newer format 9"),
        (5, checkpoint, "holds a checkpoint"),
        (6, whole.clone(), "belongs to the job 0101"),
        (
            7,
            whole.replace("payload", "paYload").replace("0101", "0707"),
            "altered",
        ),
        (
            8,
            whole.replace("writeId", "writeNo").replace("0101", "0808"),
            "no writeId",
        ),
    ];
    for (number, content, _) in &bad {
        std::fs::write(file(&local, *number), content).unwrap();
    }
    let upper = format!("{}.job", "AB".repeat(16));
    let foreign = [
        "README",
        upper.as_str(),
        "00112233-4455-6677-8899-aabbccddeeff.job",
        "1.job",
    ];
    for name in foreign {
        std::fs::write(local.folder().join("jobgraphs").join(name), "x").unwrap();
    }
    std::fs::write(local.folder().join("jobgraphs/x.job#1"), "a write in progress").unwrap();
    let before = local.files();
    let opened = another(&local).await;
    let recovered = opened.store.recover_job_graphs().await.unwrap();
    assert_eq!(recovered.entries, [graph(9, "payload")]);
    assert_eq!(
        recovered.broken.len(),
        bad.len() + foreign.len(),
        "{:?}",
        recovered.broken
    );
    for (number, _, reason) in &bad {
        let entry = recovered
            .broken
            .iter()
            .find(|entry| entry.name == job(*number).to_string())
            .unwrap();
        assert!(entry.reason.contains(reason), "{entry:?}");
        assert_eq!(entry.path, file(&local, *number).display().to_string());
        let error = opened.store.recover_job_graph(job(*number)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let error = opened
            .store
            .put_job_graph(&graph(*number, "new"))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    }
    assert_eq!(local.files(), before);
    assert_eq!(opened.health.snapshot().broken.len(), bad.len() + foreign.len());
}

#[tokio::test]
async fn others_changes_are_told_and_own_ones_are_not() {
    let local = LocalStorage::new().await;
    let mut listening = another(&local).await;
    let other = another(&local).await;
    listening.store.put_job_graph(&graph(1, "own")).await.unwrap();
    listening
        .store
        .put_job_graph(&graph(1, "own again"))
        .await
        .unwrap();
    other.store.put_job_graph(&graph(2, "theirs")).await.unwrap();
    assert_eq!(listening.told().await, Told::Added(job(2)));
    other.store.put_job_graph(&graph(2, "replaced")).await.unwrap();
    assert_eq!(listening.told().await, Told::Added(job(2)));
    listening.store.remove_job_graph(job(1)).await.unwrap();
    other.store.remove_job_graph(job(2)).await.unwrap();
    assert_eq!(listening.told().await, Told::Removed(job(2)));
    // What was there at a start is recovered, not told.
    other.store.put_job_graph(&graph(3, "a")).await.unwrap();
    assert_eq!(listening.told().await, Told::Added(job(3)));
    let mut late = another(&local).await;
    other.store.put_job_graph(&graph(4, "a")).await.unwrap();
    assert_eq!(late.told().await, Told::Added(job(4)));
    assert_eq!(listening.told().await, Told::Added(job(4)));
    listening.store.stop().await.unwrap();
    assert!(
        listening.told.recv().await.is_none(),
        "the listener is gone with its task"
    );
}

#[tokio::test]
async fn a_vanished_folder_is_no_removal() {
    let local = LocalStorage::new().await;
    let mut listening = another(&local).await;
    listening.store.put_job_graph(&graph(1, "a")).await.unwrap();
    let folder = local.folder().join("jobgraphs");
    let away = local.folder().join("away");
    std::fs::rename(&folder, &away).unwrap();
    let mut health = listening.health.subscribe();
    tokio::time::timeout(PATIENCE, health.wait_for(|health| health.is_degraded()))
        .await
        .unwrap()
        .unwrap();
    std::fs::rename(&away, &folder).unwrap();
    tokio::time::timeout(PATIENCE, health.wait_for(|health| !health.is_degraded()))
        .await
        .unwrap()
        .unwrap();
    another(&local)
        .await
        .store
        .put_job_graph(&graph(2, "a"))
        .await
        .unwrap();
    assert_eq!(listening.told().await, Told::Added(job(2)));
}

#[tokio::test]
async fn the_life_cycle_is_enforced() {
    let local = LocalStorage::new().await;
    let results =
        FileSystemJobResultStore::in_storage(Arc::clone(&local.storage), false, HealthMonitor::default());
    let storage = Arc::clone(&local.storage);
    let store = FileSystemJobGraphStore::new(storage, results, POLL, HealthMonitor::default());
    assert_eq!(
        store.recover_job_graphs().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let (tell, _told) = mpsc::unbounded_channel();
    let listener = Arc::new(Listener(tell));
    store.start(Arc::clone(&listener) as _).await.unwrap();
    assert_eq!(
        store.start(Arc::clone(&listener) as _).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    store.put_job_graph(&graph(1, "a")).await.unwrap();
    store.stop().await.unwrap();
    store.stop().await.unwrap();
    assert_eq!(
        store.put_job_graph(&graph(2, "a")).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
    assert_eq!(store.start(listener).await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(store.job_ids().await.unwrap(), [job(1)]);
}

struct StopsItself {
    store: std::sync::OnceLock<Arc<FileSystemJobGraphStore>>,
    stopped: mpsc::UnboundedSender<()>,
}

#[async_trait]
impl JobGraphListener for StopsItself {
    async fn on_added_job_graph(&self, _: JobId) {
        self.store.get().unwrap().stop().await.unwrap();
        let _ = self.stopped.send(());
    }

    async fn on_removed_job_graph(&self, _: JobId) {}
}

#[tokio::test]
async fn stop_inside_a_callback_does_not_wait_for_itself() {
    let local = LocalStorage::new().await;
    let other = another(&local).await;
    let storage = open(local.directory.path()).await;
    let store = FileSystemJobGraphStore::new(storage, other.results.clone(), POLL, HealthMonitor::default());
    let (stopped, mut is_stopped) = mpsc::unbounded_channel();
    let listener = Arc::new(StopsItself {
        store: Default::default(),
        stopped,
    });
    let _ = listener.store.set(Arc::clone(&store));
    store.start(listener).await.unwrap();
    other.store.put_job_graph(&graph(1, "a")).await.unwrap();
    other.store.put_job_graph(&graph(2, "a")).await.unwrap();
    tokio::time::timeout(PATIENCE, is_stopped.recv())
        .await
        .unwrap()
        .unwrap();
    store.stop().await.unwrap();
    assert!(is_stopped.try_recv().is_err(), "no callback after stop");
}
