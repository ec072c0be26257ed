//! The contract of [`JobResultStore`] with `job-result-store.delete-on-commit`: a result whose clean-up is complete
//! is gone, and the same job id may run again. What happens before is in
//! [`job_result_store`](super::job_result_store).

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::jobs::{ApplicationStatus, JobResultStore};

use super::macros::cases;
use super::{Fixture, ended, job};

type Subject = Arc<dyn JobResultStore>;

/// Ends a job and completes its clean-up.
async fn end_and_clean(store: &Subject, number: u8) {
    let entry = ended(job(number), ApplicationStatus::Succeeded);
    store.create_dirty_result(&entry).await.unwrap();
    assert!(store.has_dirty_job_result_entry(job(number)).await.unwrap());
    store.mark_result_as_clean(job(number)).await.unwrap();
}

/// A result is gone once its clean-up is complete, after a crash too.
pub async fn clean_result_is_gone<F: Fixture<Subject = Subject>>(fixture: F) {
    let mut store = fixture.open().await;
    end_and_clean(&store, 1).await;
    for _ in 0..2 {
        assert!(!store.has_job_result_entry(job(1)).await.unwrap());
        assert!(!store.has_clean_job_result_entry(job(1)).await.unwrap());
        assert_eq!(store.job_result_entry(job(1)).await.unwrap(), None);
        assert!(store.clean_results().await.unwrap().entries.is_empty());
        assert!(store.dirty_results().await.unwrap().entries.is_empty());
        store = fixture.reopen_after_crash(store).await;
    }
}

/// Marking it again finds nothing: `NotFound`, which clean-up takes for done.
pub async fn clean_twice_is_not_found<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    end_and_clean(&store, 1).await;
    let error = store.mark_result_as_clean(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// The same job id may run and end again.
pub async fn job_may_end_again<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    end_and_clean(&store, 1).await;
    let second = ended(job(1), ApplicationStatus::Failed);
    store.create_dirty_result(&second).await.unwrap();
    assert_eq!(store.job_result_entry(job(1)).await.unwrap(), Some(second));
}

/// Only the marked job's result goes.
pub async fn other_results_stay<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    let other = ended(job(2), ApplicationStatus::Canceled);
    store.create_dirty_result(&other).await.unwrap();
    end_and_clean(&store, 1).await;
    assert_eq!(store.dirty_results().await.unwrap().entries, [other]);
}

cases! { ($) job_result_store_delete_on_commit:
    clean_result_is_gone,
    clean_twice_is_not_found,
    job_may_end_again,
    other_results_stay,
}
