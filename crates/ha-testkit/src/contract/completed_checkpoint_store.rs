//! The contract of [`CompletedCheckpointStore`]: an acknowledged checkpoint is recovered until a newer acknowledged
//! one subsumes it (I6).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use ha_core::ErrorKind;
use ha_core::checkpoints::{CheckpointRecoveryFactory, CompletedCheckpointStore};
use ha_core::ids::JobId;
use ha_core::jobs::JobStatus;

use super::macros::cases;
use super::{Entry, Fixture, checkpoint, checkpoint_id, job};

type Subject = Arc<dyn CheckpointRecoveryFactory>;
type Store = Arc<dyn CompletedCheckpointStore>;

async fn store_of(factory: &Subject, job_id: JobId, max_retained: usize) -> Store {
    factory
        .create_recovered_completed_checkpoint_store(job_id, max_retained)
        .await
        .unwrap()
}

async fn add(store: &Store, job_id: JobId, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        store.add_and_subsume(checkpoint(job_id, number)).await.unwrap();
    }
}

async fn numbers(store: &Store) -> Vec<u64> {
    let all = store.all().await.unwrap();
    assert_eq!(store.num_retained().await, all.len());
    all.iter()
        .map(|checkpoint| checkpoint.checkpoint_id.get())
        .collect()
}

async fn latest(store: &Store) -> Option<u64> {
    store
        .latest()
        .await
        .unwrap()
        .map(|checkpoint| checkpoint.checkpoint_id.get())
}

/// A job without checkpoints has none, and the store says how many it will keep.
pub async fn new_job_has_none<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 3).await;
    assert_eq!(store.latest().await.unwrap(), None);
    assert!(store.all().await.unwrap().is_empty());
    assert_eq!(store.num_retained().await, 0);
    assert_eq!(store.max_retained(), 3);
}

/// At least one checkpoint must be retained.
pub async fn retaining_none_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let outcome = factory
        .create_recovered_completed_checkpoint_store(job(1), 0)
        .await;
    assert_eq!(outcome.err().map(|error| error.kind()), Some(ErrorKind::Invalid));
}

/// The latest is the one added last, all come oldest first, and each is what was added.
pub async fn checkpoints_round_trip_in_order<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 5).await;
    for number in [1, 2, 5] {
        add(&store, job(1), [number]).await;
        assert_eq!(store.latest().await.unwrap(), Some(checkpoint(job(1), number)));
    }
    let expected = [1, 2, 5].map(|number| checkpoint(job(1), number));
    assert_eq!(store.all().await.unwrap(), expected);
}

/// At most the given number is retained: the newest ones.
pub async fn newest_are_retained<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 3).await;
    add(&store, job(1), 1..=3).await;
    assert_eq!(numbers(&store).await, [1, 2, 3]);
    add(&store, job(1), [4]).await;
    assert_eq!(numbers(&store).await, [2, 3, 4]);
    add(&store, job(1), 5..=9).await;
    assert_eq!(numbers(&store).await, [7, 8, 9]);
    drop(store);
    // What was subsumed stays away.
    let store = store_of(&fixture.reopen_after_crash(factory).await, job(1), 3).await;
    assert_eq!(numbers(&store).await, [7, 8, 9]);
}

/// With one retained, each checkpoint takes the place of the one before.
pub async fn one_retained_is_the_newest<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 1).await;
    for number in 1..=4 {
        add(&store, job(1), [number]).await;
        assert_eq!(numbers(&store).await, [number]);
    }
}

/// An acknowledged checkpoint is there after a crash, whole.
pub async fn acknowledged_survives_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let mut factory = fixture.open().await;
    for number in 1..=4 {
        let store = store_of(&factory, job(1), 2).await;
        assert_eq!(latest(&store).await, (number > 1).then(|| number - 1));
        add(&store, job(1), [number]).await;
        drop(store);
        factory = fixture.reopen_after_crash(factory).await;
    }
    let store = store_of(&factory, job(1), 2).await;
    let expected = [3, 4].map(|number| checkpoint(job(1), number));
    assert_eq!(store.all().await.unwrap(), expected);
}

/// After a reopening the order is that of the numbers, not that of their digits.
pub async fn order_is_kept_over_a_reopening<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let ids = [8, 9, 10, 11, 99, 100, 101];
    add(&store_of(&factory, job(1), 10).await, job(1), ids).await;
    let factory = fixture.reopen_after_crash(factory).await;
    let store = store_of(&factory, job(1), 10).await;
    assert_eq!(numbers(&store).await, ids);
    assert_eq!(latest(&store).await, Some(101));
}

/// Another process recovers what this one acknowledged, and goes on from there.
pub async fn second_process_goes_on<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    add(&store_of(&first, job(1), 2).await, job(1), 1..=2).await;
    let store = store_of(&second, job(1), 2).await;
    assert_eq!(numbers(&store).await, [1, 2]);
    add(&store, job(1), [3]).await;
    assert_eq!(numbers(&store_of(&first, job(1), 2).await).await, [2, 3]);
}

/// A process that recovers while another one adds and subsumes finds what was acknowledged before it looked, or what
/// is newer: never nothing, and nothing broken.
pub async fn reader_beside_a_writer_never_goes_back<F: Fixture<Subject = Subject>>(fixture: F) {
    const LAST: u64 = 40;
    let (writing, reading) = (fixture.open().await, fixture.open().await);
    let writer = store_of(&writing, job(1), 1).await;
    add(&writer, job(1), [1]).await;
    let acknowledged = AtomicU64::new(1);
    let write = async {
        for number in 2..=LAST {
            add(&writer, job(1), [number]).await;
            acknowledged.store(number, Ordering::SeqCst);
            tokio::task::yield_now().await;
        }
    };
    let read = async {
        loop {
            let before = acknowledged.load(Ordering::SeqCst);
            let found = latest(&store_of(&reading, job(1), 1).await).await;
            assert!(found >= Some(before), "{found:?} after {before}");
            if before == LAST {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    futures::join!(write, read);
}

/// An id that is not above the newest is `Invalid`, and changes nothing.
pub async fn ids_must_increase<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 3).await;
    add(&store, job(1), [2, 4]).await;
    for number in [4, 3, 1] {
        let mut other = checkpoint(job(1), number);
        other.payload = Bytes::from_static(b"other");
        let error = store.add_and_subsume(other).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{number} after 4");
        assert!(error.is_safe_to_repeat());
    }
    let expected = [2, 4].map(|number| checkpoint(job(1), number));
    assert_eq!(store.all().await.unwrap(), expected);
    drop(store);
    let store = store_of(&fixture.reopen_after_crash(factory).await, job(1), 3).await;
    assert_eq!(store.all().await.unwrap(), expected);
}

/// Another job's checkpoint is `Invalid`.
pub async fn other_jobs_checkpoint_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 3).await;
    let error = store.add_and_subsume(checkpoint(job(2), 1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(numbers(&store).await.is_empty());
    assert!(numbers(&store_of(&factory, job(2), 3).await).await.is_empty());
}

/// Nothing that happens to one job's checkpoints touches another's.
pub async fn jobs_are_independent<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let (one, other) = (
        store_of(&factory, job(1), 2).await,
        store_of(&factory, job(2), 2).await,
    );
    add(&one, job(1), 1..=5).await;
    add(&other, job(2), 3..=4).await;
    one.shutdown(JobStatus::Finished).await.unwrap();
    assert_eq!(numbers(&other).await, [3, 4]);
    drop((one, other));
    let factory = fixture.reopen_after_crash(factory).await;
    assert_eq!(numbers(&store_of(&factory, job(2), 2).await).await, [3, 4]);
}

/// The end of the job deletes its checkpoints. Twice is once.
pub async fn terminal_shutdown_deletes<F: Fixture<Subject = Subject>>(fixture: F) {
    let mut factory = fixture.open().await;
    for status in [JobStatus::Finished, JobStatus::Failed, JobStatus::Canceled] {
        let store = store_of(&factory, job(1), 3).await;
        assert!(numbers(&store).await.is_empty(), "before {status}");
        add(&store, job(1), 1..=3).await;
        store.shutdown(status).await.unwrap();
        store.shutdown(status).await.unwrap();
        drop(store);
        factory = fixture.reopen_after_crash(factory).await;
    }
    assert!(numbers(&store_of(&factory, job(1), 3).await).await.is_empty());
}

/// Any other shutdown keeps all (I8): the next process recovers the same.
pub async fn other_shutdown_keeps<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    add(&store_of(&factory, job(1), 3).await, job(1), 1..=3).await;
    let others = [
        JobStatus::Suspended,
        JobStatus::Running,
        JobStatus::Created,
        JobStatus::Cancelling,
    ];
    for status in others {
        let store = store_of(&factory, job(1), 3).await;
        assert_eq!(numbers(&store).await, [1, 2, 3], "before {status}");
        store.shutdown(status).await.unwrap();
    }
    let factory = fixture.reopen_after_crash(factory).await;
    assert_eq!(numbers(&store_of(&factory, job(1), 3).await).await, [1, 2, 3]);
}

/// A closed store takes no checkpoint, whatever the status it was closed with.
pub async fn add_after_shutdown_is_closed<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    for (number, status) in [(1, JobStatus::Suspended), (2, JobStatus::Finished)] {
        let store = store_of(&factory, job(number), 3).await;
        store.shutdown(status).await.unwrap();
        let error = store
            .add_and_subsume(checkpoint(job(number), 1))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "after {status}");
        assert!(
            numbers(&store_of(&factory, job(number), 3).await)
                .await
                .is_empty()
        );
    }
}

/// With fewer to retain than were recovered, the newest is recovered, and the next add leaves the limit.
pub async fn smaller_limit_holds_after_the_next_add<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    add(&store_of(&factory, job(1), 5).await, job(1), 1..=5).await;
    let factory = fixture.reopen_after_crash(factory).await;
    let store = store_of(&factory, job(1), 2).await;
    assert_eq!(latest(&store).await, Some(5));
    add(&store, job(1), [6]).await;
    assert_eq!(numbers(&store).await, [5, 6]);
}

/// A payload of a few megabytes, and an empty one, come back whole.
pub async fn payload_sizes_do_not_matter<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    let store = store_of(&factory, job(1), 3).await;
    let mut empty = checkpoint(job(1), 1);
    empty.payload = Bytes::new();
    let mut large = checkpoint(job(1), 2);
    large.payload = (0..3_000_000_u32)
        .map(|index| index.to_le_bytes()[0] ^ 0x5a)
        .collect();
    store.add_and_subsume(empty.clone()).await.unwrap();
    store.add_and_subsume(large.clone()).await.unwrap();
    drop(store);
    let store = store_of(&fixture.reopen_after_crash(factory).await, job(1), 3).await;
    // Not `assert_eq`: a failure would print megabytes.
    assert!(store.all().await.unwrap() == [empty, large]);
}

/// An unreadable newest checkpoint is `Corrupt`; an older one is never used silently.
pub async fn unreadable_newest_is_corrupt<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    add(&store_of(&factory, job(1), 3).await, job(1), 1..=3).await;
    let newest = Entry::Checkpoint(job(1), checkpoint_id(3));
    fixture.break_entry(newest).await;
    let factory = fixture.reopen_after_crash(factory).await;
    for _ in 0..2 {
        // It is left as it is: the second look finds the same.
        let outcome = match factory
            .create_recovered_completed_checkpoint_store(job(1), 3)
            .await
        {
            Ok(store) => store.latest().await.map(|_| ()),
            Err(error) => Err(error),
        };
        let error = outcome.expect_err("an older checkpoint was used silently");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(
            error
                .subject()
                .is_some_and(|subject| subject.contains(&job(1).to_string()))
        );
    }
    // Another job recovers all the same.
    let other = store_of(&factory, job(2), 3).await;
    add(&other, job(2), [1]).await;
    assert_eq!(latest(&other).await, Some(1));
}

/// An unreadable older checkpoint does not keep the newest from being recovered.
pub async fn unreadable_older_does_not_hide_the_newest<F: Fixture<Subject = Subject>>(fixture: F) {
    let factory = fixture.open().await;
    add(&store_of(&factory, job(1), 3).await, job(1), 1..=3).await;
    let older = Entry::Checkpoint(job(1), checkpoint_id(2));
    fixture.break_entry(older).await;
    let factory = fixture.reopen_after_crash(factory).await;
    let store = store_of(&factory, job(1), 3).await;
    assert_eq!(store.latest().await.unwrap(), Some(checkpoint(job(1), 3)));
    // The job goes on, and the broken one is subsumed like any other.
    add(&store, job(1), 4..=6).await;
    assert_eq!(numbers(&store).await, [4, 5, 6]);
}

cases! { ($) completed_checkpoint_store:
    new_job_has_none,
    retaining_none_is_invalid,
    checkpoints_round_trip_in_order,
    newest_are_retained,
    one_retained_is_the_newest,
    acknowledged_survives_a_crash,
    order_is_kept_over_a_reopening,
    second_process_goes_on,
    reader_beside_a_writer_never_goes_back,
    ids_must_increase,
    other_jobs_checkpoint_is_invalid,
    jobs_are_independent,
    terminal_shutdown_deletes,
    other_shutdown_keeps,
    add_after_shutdown_is_closed,
    smaller_limit_holds_after_the_next_add,
    payload_sizes_do_not_matter,
    unreadable_newest_is_corrupt,
    unreadable_older_does_not_hide_the_newest,
}
