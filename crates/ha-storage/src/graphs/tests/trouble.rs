//! Listeners that panic, and writes whose outcome is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ha_core::error::Effect;
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::{JobGraphListener, JobGraphStore as _};
use tokio::sync::mpsc;

use super::{Listener, PATIENCE, POLL, Told, another, graph};
use crate::graphs::FileSystemJobGraphStore;
use crate::results::FileSystemJobResultStore;
use crate::test_support::{FaultyStore, LocalStorage, Trouble, job, open};

/// Panics at the first call.
struct Panicking(Listener, AtomicBool);

#[async_trait]
impl JobGraphListener for Panicking {
    async fn on_added_job_graph(&self, job_id: JobId) {
        assert!(self.1.swap(true, Ordering::SeqCst), "a defect of the listener");
        self.0.on_added_job_graph(job_id).await;
    }

    async fn on_removed_job_graph(&self, job_id: JobId) {
        self.0.on_removed_job_graph(job_id).await;
    }
}

#[tokio::test]
async fn a_listener_that_panics_is_told_the_next_change() {
    let local = LocalStorage::new().await;
    let storage = open(local.directory.path()).await;
    let health = HealthMonitor::default();
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, health.clone());
    let store = FileSystemJobGraphStore::new(storage, results, POLL, health);
    let (tell, mut told) = mpsc::unbounded_channel();
    let listener = Panicking(Listener(tell), AtomicBool::new(false));
    store.start(Arc::new(listener)).await.unwrap();
    let other = another(&local).await;
    for number in 1..=3 {
        other.store.put_job_graph(&graph(number, "a")).await.unwrap();
    }
    // One of the three was lost in the panic.
    for _ in 0..2 {
        let change = tokio::time::timeout(PATIENCE, told.recv()).await.unwrap();
        assert!(matches!(change, Some(Told::Added(_))), "{change:?}");
    }
    store.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_own_replacement_whose_outcome_was_lost_does_not_lock_its_owner_out() {
    let faulty = Arc::new(FaultyStore::default());
    let storage = faulty.storage();
    let health = HealthMonitor::default();
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, health.clone());
    let store = FileSystemJobGraphStore::new(storage, results, Duration::from_secs(3600), health);
    let (tell, _told) = mpsc::unbounded_channel();
    store.start(Arc::new(Listener(tell))).await.unwrap();
    store.put_job_graph(&graph(1, "a")).await.unwrap();
    // It happens, and is found when it is read back.
    faulty.make(Trouble::WriteHappensAndFails, 100);
    store.put_job_graph(&graph(1, "b")).await.unwrap();
    faulty.make(Trouble::WriteHappensAndFails, 0);
    store.put_job_graph(&graph(1, "c")).await.unwrap();
    // It does not happen.
    faulty.make(Trouble::WriteFails, 100);
    let error = store.put_job_graph(&graph(1, "d")).await.unwrap_err();
    assert_eq!(error.effect(), Effect::NotApplied, "{error}");
    faulty.make(Trouble::WriteFails, 0);
    store.remove_job_graph(job(1)).await.unwrap();
    store.stop().await.unwrap();
}

#[tokio::test]
async fn a_start_that_was_dropped_may_be_repeated() {
    let faulty = Arc::new(FaultyStore::default());
    let storage = faulty.storage();
    let health = HealthMonitor::default();
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, health.clone());
    let store = FileSystemJobGraphStore::new(Arc::clone(&storage), results, POLL, health);
    let (tell, mut told) = mpsc::unbounded_channel();
    faulty.make(Trouble::ListHangs, 1);
    let mut dropped = store.start(Arc::new(Listener(tell.clone())));
    assert!(futures::poll!(&mut dropped).is_pending());
    drop(dropped);
    store.start(Arc::new(Listener(tell))).await.unwrap();
    // The file of another process's job.
    let other = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, HealthMonitor::default());
    let other = FileSystemJobGraphStore::new(storage, other, POLL, HealthMonitor::default());
    let (tell, _not_told) = mpsc::unbounded_channel();
    other.start(Arc::new(Listener(tell))).await.unwrap();
    other.put_job_graph(&graph(1, "a")).await.unwrap();
    let change = tokio::time::timeout(PATIENCE, told.recv()).await.unwrap();
    assert!(matches!(change, Some(Told::Added(_))), "{change:?}");
    store.stop().await.unwrap();
}
