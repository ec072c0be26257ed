use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use ha_core::checkpoints::{
    CheckpointIdCounter, CheckpointRecoveryFactory as _, CompletedCheckpoint, CompletedCheckpointStore,
};
use ha_core::environment::{Environment, StepObserver, steps};
use ha_core::error::{Effect, ErrorKind, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::CheckpointId;
use ha_core::jobs::JobStatus;

use super::FileSystemCheckpointRecoveryFactory;
use crate::HaStorage;
use crate::test_support::{FaultyStore, LocalStorage, Trouble, cluster, job, open};

struct Fixture {
    local: LocalStorage,
    factory: Arc<FileSystemCheckpointRecoveryFactory>,
    health: HealthMonitor,
}

impl Fixture {
    async fn new() -> Self {
        let local = LocalStorage::new().await;
        let health = HealthMonitor::default();
        Self {
            factory: FileSystemCheckpointRecoveryFactory::new(Arc::clone(&local.storage), health.clone()),
            local,
            health,
        }
    }

    async fn store(&self, max: usize) -> Result<Arc<dyn CompletedCheckpointStore>> {
        self.factory
            .create_recovered_completed_checkpoint_store(job(1), max)
            .await
    }

    async fn counter(&self) -> Arc<dyn CheckpointIdCounter> {
        self.factory.create_checkpoint_id_counter(job(1)).await.unwrap()
    }

    fn folder(&self) -> PathBuf {
        self.local.folder().join(format!("jobs/{}", job(1)))
    }

    /// The files of the checkpoints, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder().join("checkpoints")).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

fn id(number: u64) -> CheckpointId {
    CheckpointId::new(number).unwrap()
}

fn checkpoint(number: u64) -> CompletedCheckpoint {
    CompletedCheckpoint {
        job_id: job(1),
        checkpoint_id: id(number),
        timestamp: 7,
        payload: Bytes::from(format!("payload {number}")),
    }
}

fn ids(checkpoints: &[CompletedCheckpoint]) -> Vec<u64> {
    checkpoints
        .iter()
        .map(|checkpoint| checkpoint.checkpoint_id.get())
        .collect()
}

#[tokio::test]
async fn the_newest_are_retained_over_handles_and_restarts() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.store(0).await.err().unwrap().kind(), ErrorKind::Invalid);
    let first = fixture.store(2).await.unwrap();
    assert_eq!(first.latest().await.unwrap(), None);
    for number in [9, 10, 11] {
        first.add_and_subsume(checkpoint(number)).await.unwrap();
    }
    let second = fixture.store(2).await.unwrap();
    assert_eq!(second.num_retained().await, 2);
    assert_eq!(second.latest().await.unwrap(), Some(checkpoint(11)));
    for old in [10, 11] {
        let error = second.add_and_subsume(checkpoint(old)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.effect()),
            (ErrorKind::Invalid, Effect::NotApplied)
        );
    }
    second.add_and_subsume(checkpoint(12)).await.unwrap();
    let error = first.add_and_subsume(checkpoint(12)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "the other handle's is known");
    assert_eq!(ids(&first.all().await.unwrap()), [11, 12]);
    let mut foreign = checkpoint(13);
    foreign.job_id = job(2);
    assert_eq!(
        first.add_and_subsume(foreign).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    first.shutdown(JobStatus::Suspended).await.unwrap();
    assert_eq!(
        first.add_and_subsume(checkpoint(13)).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
    assert_eq!(fixture.files().len(), 2);
    second.shutdown(JobStatus::Finished).await.unwrap();
    second.shutdown(JobStatus::Finished).await.unwrap();
    assert!(fixture.local.files().is_empty());
    assert!(!fixture.folder().exists());
}

#[tokio::test]
async fn b30_an_older_checkpoint_is_never_taken_for_an_unreadable_newest() {
    let fixture = Fixture::new().await;
    let store = fixture.store(3).await.unwrap();
    for number in 1..=3 {
        store.add_and_subsume(checkpoint(number)).await.unwrap();
    }
    let files = fixture.files();
    let newest = files[2].clone();
    let whole = std::fs::read(&newest).unwrap();
    let older = std::fs::read(&files[1]).unwrap();
    for (damage, reason) in [
        (Vec::new(), "empty"),
        (whole[..whole.len() - 1].to_vec(), "cut off"),
        ([&whole[..], b"x"].concat(), "appended"),
        (older, "holds the checkpoint 2"),
    ] {
        std::fs::write(&newest, &damage).unwrap();
        for error in [
            fixture.store(3).await.err().unwrap(),
            store.latest().await.unwrap_err(),
            store.all().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.message().contains(reason), "{error}");
            assert!(error.advice().contains("hactl checkpoints"), "{error}");
        }
        let health = fixture.health.snapshot();
        let broken = &health.broken[newest.to_str().unwrap()];
        let candidates: Vec<_> = [&files[1], &files[0]]
            .map(|path| path.display().to_string())
            .into();
        assert_eq!(broken.candidates, candidates);
        assert_eq!(std::fs::read(&newest).unwrap(), damage, "left as it is");
    }
    // A newer one that can be read is what recovery wants.
    store.add_and_subsume(checkpoint(4)).await.unwrap();
    assert_eq!(store.latest().await.unwrap(), Some(checkpoint(4)));
    assert_eq!(ids(&store.all().await.unwrap()), [2, 4]);
    std::fs::write(&newest, &whole).unwrap();
    assert_eq!(ids(&store.all().await.unwrap()), [2, 3, 4]);
    assert!(
        !fixture.health.snapshot().is_degraded(),
        "{:?}",
        fixture.health.snapshot()
    );
}

#[tokio::test]
async fn foreign_files_are_reported_and_left() {
    let fixture = Fixture::new().await;
    let store = fixture.store(1).await.unwrap();
    store.add_and_subsume(checkpoint(1)).await.unwrap();
    let folder = fixture.folder().join("checkpoints");
    std::fs::write(folder.join("9999999999999999999-x"), "x").unwrap();
    std::fs::write(folder.join("a#7"), "a write in progress").unwrap();
    assert_eq!(store.latest().await.unwrap(), Some(checkpoint(1)));
    assert_eq!(fixture.health.snapshot().broken.len(), 1);
    store.shutdown(JobStatus::Canceled).await.unwrap();
    assert_eq!(fixture.files(), [folder.join("9999999999999999999-x")]);
}

#[tokio::test(start_paused = true)]
async fn b30_trouble_of_a_moment_is_waited_out_and_a_lasting_one_fails_the_recovery() {
    let faulty = Arc::new(FaultyStore::default());
    let factory = FileSystemCheckpointRecoveryFactory::new(faulty.storage(), HealthMonitor::default());
    let store = factory
        .create_recovered_completed_checkpoint_store(job(1), 3)
        .await
        .unwrap();
    for number in 1..=3 {
        store.add_and_subsume(checkpoint(number)).await.unwrap();
    }
    faulty.make(Trouble::ReadFails, 2);
    assert_eq!(store.latest().await.unwrap(), Some(checkpoint(3)));
    faulty.make(Trouble::ReadFails, 1000);
    assert_eq!(store.latest().await.unwrap_err().kind(), ErrorKind::Denied);
    faulty.make(Trouble::ReadFails, 0);
    faulty.make(Trouble::WriteFails, 1000);
    let error = store.add_and_subsume(checkpoint(4)).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotApplied);
    assert_eq!(ids(&store.all().await.unwrap()), [1, 2, 3]);
}

#[tokio::test]
async fn ids_increase_over_handles_and_restarts() {
    let fixture = Fixture::new().await;
    let first = fixture.counter().await;
    assert_eq!(
        first.get_and_increment().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    first.start().await.unwrap();
    assert_eq!(first.get_and_increment().await.unwrap(), id(1));
    // Two more, one as another process would have it.
    let second = fixture.counter().await;
    let storage = open(fixture.local.directory.path()).await;
    let third = FileSystemCheckpointRecoveryFactory::new(storage, HealthMonitor::default());
    let third = third.create_checkpoint_id_counter(job(1)).await.unwrap();
    second.start().await.unwrap();
    third.start().await.unwrap();
    let mut given = Vec::new();
    for _ in 0..20 {
        let round = futures::future::join3(
            first.get_and_increment(),
            second.get_and_increment(),
            third.get_and_increment(),
        );
        let (a, b, c) = round.await;
        given.extend([a.unwrap().get(), b.unwrap().get(), c.unwrap().get()]);
    }
    given.sort_unstable();
    assert_eq!(given, (2..=61).collect::<Vec<_>>());
    first.set_count(id(100)).await.unwrap();
    first.set_count(id(50)).await.unwrap();
    assert_eq!(second.get().await.unwrap(), id(100));
    assert_eq!(second.get_and_increment().await.unwrap(), id(100));
    let text = std::fs::read_to_string(fixture.folder().join("counter")).unwrap();
    assert!(text.ends_with("\n101"), "{text}");
    first.shutdown(JobStatus::Suspended).await.unwrap();
    assert_eq!(
        first.get_and_increment().await.unwrap_err().kind(),
        ErrorKind::Closed
    );
    second.shutdown(JobStatus::Finished).await.unwrap();
    second.shutdown(JobStatus::Finished).await.unwrap();
    assert!(fixture.local.files().is_empty());
    let reborn = fixture.counter().await;
    reborn.start().await.unwrap();
    assert_eq!(
        reborn.get_and_increment().await.unwrap(),
        CheckpointId::FIRST,
        "another life of the id"
    );
}

#[tokio::test]
async fn a_counter_stands_above_the_newest_checkpoint_and_what_was_given() {
    let fixture = Fixture::new().await;
    let store = fixture.store(1).await.unwrap();
    store.add_and_subsume(checkpoint(41)).await.unwrap();
    let counter = fixture.counter().await;
    counter.start().await.unwrap();
    assert_eq!(counter.get_and_increment().await.unwrap(), id(42));
    // Removed while in use, and set back by a copy of yesterday.
    let path = fixture.folder().join("counter");
    let copy = std::fs::read(&path).unwrap();
    for expected in [43, 44] {
        std::fs::remove_file(&path).unwrap();
        assert_eq!(counter.get_and_increment().await.unwrap(), id(expected));
    }
    std::fs::write(&path, &copy).unwrap();
    assert_eq!(counter.get_and_increment().await.unwrap(), id(45));
}

#[tokio::test]
async fn garbage_is_no_counter() {
    let fixture = Fixture::new().await;
    let counter = fixture.counter().await;
    counter.start().await.unwrap();
    counter.set_count(CheckpointId::MAX).await.unwrap();
    let path = fixture.folder().join("counter");
    assert_eq!(counter.get_and_increment().await.unwrap(), CheckpointId::MAX);
    assert_eq!(
        counter.get_and_increment().await.unwrap_err().kind(),
        ErrorKind::Invalid,
        "all are given"
    );
    for garbage in ["", "text", "-1", "9223372036854775807", "17"] {
        std::fs::write(&path, garbage).unwrap();
        let fresh = fixture.counter().await;
        assert_eq!(
            fresh.start().await.unwrap_err().kind(),
            ErrorKind::Corrupt,
            "{garbage}"
        );
        assert_eq!(
            counter.get_and_increment().await.unwrap_err().kind(),
            ErrorKind::Corrupt
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), garbage);
    }
}

#[tokio::test]
async fn a_dropped_increment_never_makes_an_id_repeat() {
    let fixture = Fixture::new().await;
    let counter = fixture.counter().await;
    counter.start().await.unwrap();
    let mut last = 0;
    for polls in 0..40 {
        let mut dropped = Box::pin(counter.get_and_increment());
        for _ in 0..polls {
            if futures::poll!(&mut dropped).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(dropped);
        let next = counter.get_and_increment().await.unwrap().get();
        assert!(next > last, "{next} after {last}");
        last = next;
    }
}

#[tokio::test]
async fn b34_files_that_cannot_be_deleted_do_not_slow_down_one_add_after_the_other() {
    let subsumed = Subsumed::default();
    let environment = Environment::system().with_step_observer(Arc::new(subsumed.clone()));
    let directory = tempfile::tempdir().unwrap();
    let storage = HaStorage::open(directory.path().to_str().unwrap(), &cluster(), &environment)
        .await
        .unwrap();
    let factory = FileSystemCheckpointRecoveryFactory::new(storage, HealthMonitor::default());
    let store = factory
        .create_recovered_completed_checkpoint_store(job(1), 1)
        .await
        .unwrap();
    let folder = directory.path().join(format!("c1/jobs/{}/checkpoints", job(1)));
    let paths = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    for number in 1..=20 {
        store.add_and_subsume(checkpoint(number)).await.unwrap();
        let attempts = subsumed.0.swap(0, Ordering::SeqCst);
        assert!(
            attempts <= 2,
            "the add of {number} made {attempts} attempts at deletions"
        );
        // What stands in the place of a file is not deleted.
        for path in paths().iter().filter(|path| path.is_file()) {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }
    }
    for path in paths() {
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, "").unwrap();
    }
    store.add_and_subsume(checkpoint(21)).await.unwrap();
    assert_eq!(paths().len(), 1);
}

/// Counts deletions of the files of subsumed checkpoints.
#[derive(Clone, Default)]
struct Subsumed(Arc<AtomicUsize>);

impl StepObserver for Subsumed {
    fn reached(&self, step: &'static str) {
        if step == steps::SUBSUME_CHECKPOINT_FILE.before {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}
