//! The contract of [`RunningJobsRegistry`]: which jobs run, for observers.

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::jobs::JobSchedulingStatus::{Done, Pending, Running};
use ha_core::jobs::{JobSchedulingStatus, RunningJobsRegistry};

use super::macros::cases;
use super::{Entry, Fixture, job};

type Subject = Arc<dyn RunningJobsRegistry>;

async fn status(registry: &Subject, number: u8) -> JobSchedulingStatus {
    registry.job_scheduling_status(job(number)).await.unwrap()
}

/// A job that nobody spoke of is pending.
pub async fn unknown_job_is_pending<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    assert_eq!(status(&registry, 1).await, Pending);
    assert!(registry.running_job_ids().await.unwrap().is_empty());
    // Asking records nothing.
    assert_eq!(status(&registry, 1).await, Pending);
}

/// A job goes from pending to running to done, and after clearing it is pending again and may run again.
pub async fn pending_running_done_cleared<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Running);
    registry.set_job_finished(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Done);
    registry.clear_job(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Pending);
    registry.set_job_running(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Running);
}

/// Done is final: running after it is `Conflict` and changes nothing.
pub async fn done_is_final<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_finished(job(1)).await.unwrap();
    let error = registry.set_job_running(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(status(&registry, 1).await, Done);
    assert!(registry.running_job_ids().await.unwrap().is_empty());
}

/// Done is final over processes too.
pub async fn done_is_final_for_another_process<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    first.set_job_running(job(1)).await.unwrap();
    assert_eq!(status(&second, 1).await, Running);
    second.set_job_finished(job(1)).await.unwrap();
    let error = first.set_job_running(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(status(&first, 1).await, Done);
}

/// A job may be done without ever having been seen running.
pub async fn done_without_running<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_finished(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Done);
}

/// Saying the same again is success.
pub async fn repetition_is_success<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_running(job(1)).await.unwrap();
    assert_eq!(registry.running_job_ids().await.unwrap(), [job(1)]);
    registry.set_job_finished(job(1)).await.unwrap();
    registry.set_job_finished(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Done);
}

/// Forgetting an unknown job is success, once and twice.
pub async fn clearing_unknown_is_success<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.clear_job(job(1)).await.unwrap();
    registry.set_job_running(job(1)).await.unwrap();
    registry.clear_job(job(1)).await.unwrap();
    registry.clear_job(job(1)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Pending);
}

/// Only running jobs are listed, each once.
pub async fn only_running_jobs_are_listed<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    for number in 1..=4 {
        registry.set_job_running(job(number)).await.unwrap();
    }
    registry.set_job_finished(job(2)).await.unwrap();
    registry.clear_job(job(3)).await.unwrap();
    let mut running = registry.running_job_ids().await.unwrap();
    running.sort_unstable();
    assert_eq!(running, [job(1), job(4)]);
}

/// Nothing that is said of one job touches another.
pub async fn jobs_are_independent<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_running(job(2)).await.unwrap();
    registry.set_job_finished(job(1)).await.unwrap();
    assert_eq!(status(&registry, 2).await, Running);
    registry.clear_job(job(2)).await.unwrap();
    assert_eq!(status(&registry, 1).await, Done);
}

/// What was recorded before a crash is recorded after it.
pub async fn records_survive_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_running(job(2)).await.unwrap();
    registry.set_job_finished(job(2)).await.unwrap();
    let registry = fixture.reopen_after_crash(registry).await;
    assert_eq!(status(&registry, 1).await, Running);
    assert_eq!(status(&registry, 2).await, Done);
    assert_eq!(registry.running_job_ids().await.unwrap(), [job(1)]);
}

/// An unreadable record is `Corrupt`, never taken for pending, and hides no other job.
pub async fn unreadable_record_is_corrupt<F: Fixture<Subject = Subject>>(fixture: F) {
    let registry = fixture.open().await;
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_running(job(2)).await.unwrap();
    fixture.break_entry(Entry::SchedulingStatus(job(1))).await;
    let error = registry.job_scheduling_status(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .subject()
            .is_some_and(|subject| subject.contains(&job(1).to_string()))
    );
    assert_eq!(status(&registry, 2).await, Running);
    assert_eq!(registry.running_job_ids().await.unwrap(), [job(2)]);
}

cases! { ($) running_jobs_registry:
    unknown_job_is_pending,
    pending_running_done_cleared,
    done_is_final,
    done_is_final_for_another_process,
    done_without_running,
    repetition_is_success,
    clearing_unknown_is_success,
    only_running_jobs_are_listed,
    jobs_are_independent,
    records_survive_a_crash,
    unreadable_record_is_corrupt,
}
