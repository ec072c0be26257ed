//! The contract of [`CheckpointIdCounter`]: ids strictly increase over all processes and restarts (I6).

use std::collections::HashSet;
use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::checkpoints::{CheckpointIdCounter, CheckpointRecoveryFactory};
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobStatus;

use super::macros::cases;
use super::{Entry, Fixture, checkpoint, checkpoint_id, job};

type Subject = Arc<dyn CheckpointRecoveryFactory>;
type Counter = Arc<dyn CheckpointIdCounter>;

async fn started(factory: &Subject, job_id: JobId) -> Counter {
    let counter = factory.create_checkpoint_id_counter(job_id).await.unwrap();
    counter.start().await.unwrap();
    counter
}

async fn next(counter: &Counter) -> u64 {
    counter.get_and_increment().await.unwrap().get()
}

/// Takes ids until `count` were given; losing a race to another process (`Conflict`) is no fault.
async fn take(counter: Counter, count: usize) -> Vec<CheckpointId> {
    let mut ids = Vec::new();
    while ids.len() < count {
        match counter.get_and_increment().await {
            Ok(id) => ids.push(id),
            Err(error) if error.kind() == ErrorKind::Conflict => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    ids
}

/// A new job's ids are 1, 2, 3, and `get` says the one that would be next without giving it.
pub async fn ids_begin_at_one<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = started(&factory, job(1)).await;
    for expected in 1..=3 {
        assert_eq!(counter.get().await.unwrap().get(), expected);
        assert_eq!(counter.get().await.unwrap().get(), expected);
        assert_eq!(next(&counter).await, expected);
    }
}

/// An id before `start` is `Invalid`, and starting twice is once.
pub async fn start_comes_first<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = factory.create_checkpoint_id_counter(job(1)).await.unwrap();
    let error = counter.get_and_increment().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    counter.start().await.unwrap();
    assert_eq!(next(&counter).await, 1);
    counter.start().await.unwrap();
    assert_eq!(next(&counter).await, 2);
}

/// After a crash ids go on above the last one that was given.
pub async fn ids_go_on_after_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let mut factory = fixture.open().await;
    let mut last = 0;
    for _ in 0..3 {
        let counter = started(&factory, job(1)).await;
        for _ in 0..3 {
            let id = next(&counter).await;
            assert!(id > last, "{id} after {last}");
            last = id;
        }
        drop(counter);
        factory = fixture.reopen_after_crash(factory).await;
    }
}

/// Two processes at the same time are never given the same id, and each one's ids increase.
pub async fn two_processes_never_share_an_id<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    let (one, other) = (started(&first, job(1)).await, started(&second, job(1)).await);
    let (ids, other_ids) = tokio::join!(take(one, 20), take(other, 20));
    for given in [&ids, &other_ids] {
        assert!(given.is_sorted_by(|a, b| a < b), "{given:?}");
    }
    let distinct: HashSet<_> = ids.iter().chain(&other_ids).collect();
    assert_eq!(distinct.len(), 40, "{ids:?} {other_ids:?}");
}

/// A second process takes turns with the first and always goes on above it.
pub async fn turns_of_two_processes_increase<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    let counters = [started(&first, job(1)).await, started(&second, job(1)).await];
    let mut last = 0;
    for turn in 0..8 {
        let ids = take(Arc::clone(&counters[turn % 2]), 1).await;
        assert!(ids[0].get() > last, "{ids:?} after {last}");
        last = ids[0].get();
    }
}

/// Many tasks of one process are given distinct ids.
pub async fn concurrent_increments_are_distinct<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = started(&factory, job(1)).await;
    let tasks = (0..8).map(|_| take(Arc::clone(&counter), 8));
    let ids: Vec<_> = futures::future::join_all(tasks).await.concat();
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 64, "{ids:?}");
    assert!(next(&counter).await > ids.iter().map(|id| id.get()).max().unwrap());
}

/// `set_count` says the next id, durably.
pub async fn set_moves_on<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = started(&factory, job(1)).await;
    counter.set_count(checkpoint_id(1337)).await.unwrap();
    assert_eq!(counter.get().await.unwrap().get(), 1337);
    drop(counter);
    let factory = fixture.reopen_after_crash(factory).await;
    let counter = started(&factory, job(1)).await;
    assert_eq!(next(&counter).await, 1337);
    assert_eq!(next(&counter).await, 1338);
}

/// `set_count` never goes back: a smaller number, or the same, is ignored.
pub async fn set_never_goes_back<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = started(&factory, job(1)).await;
    for _ in 0..5 {
        next(&counter).await;
    }
    counter.set_count(checkpoint_id(3)).await.unwrap();
    assert_eq!(counter.get().await.unwrap().get(), 6);
    counter.set_count(checkpoint_id(6)).await.unwrap();
    assert_eq!(next(&counter).await, 6);
}

/// `set_count` does not go back behind what another process was given meanwhile.
pub async fn set_never_goes_back_behind_another_process<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    let (one, other) = (started(&first, job(1)).await, started(&second, job(1)).await);
    let given = take(other, 9).await;
    one.set_count(checkpoint_id(4)).await.unwrap();
    let ids = take(one, 1).await;
    assert!(ids[0] > given[8], "{ids:?} after {given:?}");
}

/// Ids of one job do not move another job's.
pub async fn jobs_are_independent<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let (one, other) = (started(&factory, job(1)).await, started(&factory, job(2)).await);
    for _ in 0..4 {
        next(&one).await;
    }
    assert_eq!(next(&other).await, 1);
    other.shutdown(JobStatus::Finished).await.unwrap();
    assert_eq!(next(&one).await, 5);
}

/// The end of the job deletes its counter: the next life of the job id begins at 1. Twice is once.
pub async fn terminal_shutdown_deletes<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    for status in [JobStatus::Finished, JobStatus::Failed, JobStatus::Canceled] {
        let counter = started(&factory, job(1)).await;
        assert_eq!(next(&counter).await, 1, "before {status}");
        next(&counter).await;
        counter.shutdown(status).await.unwrap();
        counter.shutdown(status).await.unwrap();
    }
}

/// Any other shutdown keeps the counter (I8).
pub async fn other_shutdown_keeps<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let others = [
        JobStatus::Suspended,
        JobStatus::Running,
        JobStatus::Created,
        JobStatus::Cancelling,
    ];
    let mut last = 0;
    for status in others {
        let counter = started(&factory, job(1)).await;
        let id = next(&counter).await;
        assert!(id > last, "{id} after {last} and a shutdown as {status}");
        last = id;
        counter.shutdown(status).await.unwrap();
        counter.shutdown(status).await.unwrap();
    }
}

/// A counter that was lost beside its checkpoints stands above the newest of them.
pub async fn counter_stands_above_the_newest_checkpoint<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = factory
        .create_recovered_completed_checkpoint_store(job(1), 3)
        .await
        .unwrap();
    store.add_and_subsume(checkpoint(job(1), 7)).await.unwrap();
    let counter = started(&factory, job(1)).await;
    let id = next(&counter).await;
    assert!(id > 7, "{id} was given although checkpoint 7 is there");
}

/// What is no counter is `Corrupt`, with its place, and never taken for 1.
pub async fn unreadable_counter_is_corrupt<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let counter = started(&factory, job(1)).await;
    next(&counter).await;
    drop(counter);
    fixture.break_entry(Entry::Counter(job(1))).await;
    let factory = fixture.reopen_after_crash(factory).await;
    for _ in 0..2 {
        // It is left as it is: the second look finds the same.
        let counter = factory.create_checkpoint_id_counter(job(1)).await.unwrap();
        let error = counter.start().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error
                .subject()
                .is_some_and(|subject| subject.contains(&job(1).to_string()))
        );
        assert!(counter.get_and_increment().await.is_err());
    }
    // Another job is not touched by it.
    assert_eq!(next(&started(&factory, job(2)).await).await, 1);
}

cases! { ($) checkpoint_id_counter:
    ids_begin_at_one,
    start_comes_first,
    ids_go_on_after_a_crash,
    two_processes_never_share_an_id,
    turns_of_two_processes_increase,
    concurrent_increments_are_distinct,
    set_moves_on,
    set_never_goes_back,
    set_never_goes_back_behind_another_process,
    jobs_are_independent,
    terminal_shutdown_deletes,
    other_shutdown_keeps,
    counter_stands_above_the_newest_checkpoint,
    unreadable_counter_is_corrupt,
}
