//! The contract of [`JobResultStore`]: the authority on whether a job has ended.
//!
//! The store keeps clean results: `job-result-store.delete-on-commit` is false.

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::jobs::{ApplicationStatus, JobResultEntry, JobResultStore};

use super::macros::cases;
use super::{Entry, Fixture, ended, job};

type Subject = Arc<dyn JobResultStore>;

fn succeeded(number: u8) -> JobResultEntry {
    ended(job(number), ApplicationStatus::Succeeded)
}

async fn states(store: &Subject, number: u8) -> (bool, bool, bool) {
    (
        store.has_job_result_entry(job(number)).await.unwrap(),
        store.has_dirty_job_result_entry(job(number)).await.unwrap(),
        store.has_clean_job_result_entry(job(number)).await.unwrap(),
    )
}

/// A new store has no results.
pub async fn new_store_is_empty<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    assert_eq!(states(&store, 1).await, (false, false, false));
    assert_eq!(store.job_result_entry(job(1)).await.unwrap(), None);
    let (dirty, clean) = (
        store.dirty_results().await.unwrap(),
        store.clean_results().await.unwrap(),
    );
    assert!(dirty.entries.is_empty() && dirty.broken.is_empty());
    assert!(clean.entries.is_empty() && clean.broken.is_empty());
}

/// What was recorded is read back whole, for every way to end, with and without a digest.
pub async fn entries_round_trip<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    let statuses = [
        ApplicationStatus::Succeeded,
        ApplicationStatus::Failed,
        ApplicationStatus::Canceled,
        ApplicationStatus::Unknown,
    ];
    let mut written = Vec::new();
    for (number, status) in (1..).zip(statuses) {
        let mut entry = ended(job(number), status);
        if number % 2 == 0 {
            entry.job_digest = None;
        }
        store.create_dirty_result(&entry).await.unwrap();
        written.push(entry);
    }
    for entry in &written {
        let read = store.job_result_entry(entry.job_id()).await.unwrap();
        assert_eq!(read.as_ref(), Some(entry));
    }
    // A clean result is the same result.
    store.mark_result_as_clean(job(2)).await.unwrap();
    let read = store.job_result_entry(job(2)).await.unwrap();
    assert_eq!(read.as_ref(), Some(&written[1]));
}

/// Flags say: nothing, then dirty, then clean; "ended" holds for both of the latter.
pub async fn flags_follow_the_state<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    assert_eq!(states(&store, 1).await, (false, false, false));
    store.create_dirty_result(&succeeded(1)).await.unwrap();
    assert_eq!(states(&store, 1).await, (true, true, false));
    store.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(states(&store, 1).await, (true, false, true));
    // A neighbour is touched by none of it.
    assert_eq!(states(&store, 2).await, (false, false, false));
}

/// A second end of a job is `AlreadyExists`, and the first one stands.
pub async fn duplicate_dirty_is_already_exists<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    store.create_dirty_result(&succeeded(1)).await.unwrap();
    let second = ended(job(1), ApplicationStatus::Failed);
    let error = store.create_dirty_result(&second).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    // Even the very same end is a second one.
    let error = store.create_dirty_result(&succeeded(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.job_result_entry(job(1)).await.unwrap(), Some(succeeded(1)));
}

/// An end after a clean end is `AlreadyExists`, and the job stays clean.
pub async fn dirty_after_clean_is_already_exists<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    store.create_dirty_result(&succeeded(1)).await.unwrap();
    store.mark_result_as_clean(job(1)).await.unwrap();
    let second = ended(job(1), ApplicationStatus::Canceled);
    let error = store.create_dirty_result(&second).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(states(&store, 1).await, (true, false, true));
    assert_eq!(store.job_result_entry(job(1)).await.unwrap(), Some(succeeded(1)));
}

/// Marking a clean result does nothing, and succeeds.
pub async fn clean_twice_is_noop<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    store.create_dirty_result(&succeeded(1)).await.unwrap();
    store.mark_result_as_clean(job(1)).await.unwrap();
    store.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(states(&store, 1).await, (true, false, true));
    assert_eq!(store.job_result_entry(job(1)).await.unwrap(), Some(succeeded(1)));
}

/// Marking what was never recorded is `NotFound`, and records nothing.
pub async fn clean_unknown_is_not_found<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    store.create_dirty_result(&succeeded(2)).await.unwrap();
    let error = store.mark_result_as_clean(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(states(&store, 1).await, (false, false, false));
    assert_eq!(states(&store, 2).await, (true, true, false));
}

/// Dirty and clean results are listed apart, in the order of the job ids.
pub async fn lists_are_apart_and_ordered<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    for number in [5, 3, 1, 4, 2] {
        store.create_dirty_result(&succeeded(number)).await.unwrap();
    }
    store.mark_result_as_clean(job(4)).await.unwrap();
    store.mark_result_as_clean(job(2)).await.unwrap();
    let dirty = store.dirty_results().await.unwrap();
    assert_eq!(dirty.entries, [succeeded(1), succeeded(3), succeeded(5)]);
    assert!(dirty.broken.is_empty(), "{:?}", dirty.broken);
    let clean = store.clean_results().await.unwrap();
    assert_eq!(clean.entries, [succeeded(2), succeeded(4)]);
    assert!(clean.broken.is_empty(), "{:?}", clean.broken);
}

/// A job that ended before a crash has ended after it, and is still dirty or clean as it was.
pub async fn ends_survive_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    store.create_dirty_result(&succeeded(1)).await.unwrap();
    store.create_dirty_result(&succeeded(2)).await.unwrap();
    store.mark_result_as_clean(job(2)).await.unwrap();
    let store = fixture.reopen_after_crash(store).await;
    assert_eq!(states(&store, 1).await, (true, true, false));
    assert_eq!(states(&store, 2).await, (true, false, true));
    assert_eq!(store.dirty_results().await.unwrap().entries, [succeeded(1)]);
    // The clean-up that the crash cut short is completed by the next process.
    store.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(states(&store, 1).await, (true, false, true));
}

/// Another process sees an end, cannot make a second one, and may complete the clean-up.
pub async fn second_process_sees_the_end<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    assert_eq!(states(&second, 1).await, (false, false, false));
    first.create_dirty_result(&succeeded(1)).await.unwrap();
    assert_eq!(states(&second, 1).await, (true, true, false));
    let other = ended(job(1), ApplicationStatus::Failed);
    let error = second.create_dirty_result(&other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    second.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(states(&first, 1).await, (true, false, true));
    first.mark_result_as_clean(job(1)).await.unwrap();
}

/// Of two ends at the same time one counts, and it is the one whose writer was told so.
pub async fn concurrent_ends_have_one_winner<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    for number in 1..=8 {
        let one = ended(job(number), ApplicationStatus::Succeeded);
        let other = ended(job(number), ApplicationStatus::Canceled);
        let (outcome, other_outcome) = tokio::join!(
            first.create_dirty_result(&one),
            second.create_dirty_result(&other)
        );
        let (winner, lost) = match (outcome, other_outcome) {
            (Ok(()), Err(error)) => (one, error),
            (Err(error), Ok(())) => (other, error),
            outcomes => panic!("not exactly one end of job {number} won: {outcomes:?}"),
        };
        assert_eq!(lost.kind(), ErrorKind::AlreadyExists);
        assert_eq!(first.job_result_entry(job(number)).await.unwrap(), Some(winner));
    }
}

/// A torn entry counts as an ended job, is reported with its place, and hides no other.
pub async fn torn_entry_blocks_only_its_own_job<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    for number in 1..=3 {
        store.create_dirty_result(&succeeded(number)).await.unwrap();
    }
    fixture.break_entry(Entry::JobResult(job(2))).await;
    let store = fixture.reopen_after_crash(store).await;
    let dirty = store.dirty_results().await.unwrap();
    assert_eq!(dirty.entries, [succeeded(1), succeeded(3)]);
    assert_eq!(dirty.broken.len(), 1, "{:?}", dirty.broken);
    assert!(dirty.broken[0].path.contains(&job(2).to_string()));
    // The job has ended, whatever the entry says.
    assert!(store.has_job_result_entry(job(2)).await.unwrap());
    let error = store.create_dirty_result(&succeeded(2)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let error = store.job_result_entry(job(2)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    // It is left as it is: reading it twice reports it twice.
    assert_eq!(store.dirty_results().await.unwrap().broken.len(), 1);
}

cases! { ($) job_result_store:
    new_store_is_empty,
    entries_round_trip,
    flags_follow_the_state,
    duplicate_dirty_is_already_exists,
    dirty_after_clean_is_already_exists,
    clean_twice_is_noop,
    clean_unknown_is_not_found,
    lists_are_apart_and_ordered,
    ends_survive_a_crash,
    second_process_sees_the_end,
    concurrent_ends_have_one_winner,
    torn_entry_blocks_only_its_own_job,
}
