use std::sync::Arc;

use ha_core::error::ErrorKind;
use ha_core::health::HealthMonitor;
use ha_core::jobs::{JobSchedulingStatus, RunningJobsRegistry as _};

use super::FileSystemRunningJobsRegistry;
use crate::test_support::{LocalStorage, job, open};

#[tokio::test]
async fn a_status_is_seen_by_another_process_and_done_is_final() {
    let local = LocalStorage::new().await;
    let first = FileSystemRunningJobsRegistry::new(Arc::clone(&local.storage), HealthMonitor::default());
    let second =
        FileSystemRunningJobsRegistry::new(open(local.directory.path()).await, HealthMonitor::default());
    first.set_job_running(job(1)).await.unwrap();
    first.set_job_running(job(2)).await.unwrap();
    assert_eq!(second.running_job_ids().await.unwrap(), [job(1), job(2)]);
    second.set_job_finished(job(1)).await.unwrap();
    assert_eq!(
        first.set_job_running(job(1)).await.unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(
        first.job_scheduling_status(job(1)).await.unwrap(),
        JobSchedulingStatus::Done
    );
    first.clear_job(job(1)).await.unwrap();
    first.clear_job(job(1)).await.unwrap();
    assert_eq!(
        second.job_scheduling_status(job(1)).await.unwrap(),
        JobSchedulingStatus::Pending
    );
    assert_eq!(local.files(), [format!("c1/running_job_registry/{}", job(2))]);
}

#[tokio::test]
async fn garbage_is_reported_and_left() {
    let local = LocalStorage::new().await;
    let health = HealthMonitor::default();
    let registry = FileSystemRunningJobsRegistry::new(Arc::clone(&local.storage), health.clone());
    registry.set_job_running(job(1)).await.unwrap();
    registry.set_job_running(job(2)).await.unwrap();
    let path = local.folder().join(format!("running_job_registry/{}", job(1)));
    let whole = std::fs::read_to_string(&path).unwrap();
    for garbage in [
        String::new(),
        "RUNNING".to_owned(),
        whole.replace("RUNNING", "WALKING"),
    ] {
        std::fs::write(&path, &garbage).unwrap();
        let error = registry.job_scheduling_status(job(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(
            registry.set_job_running(job(1)).await.unwrap_err().kind(),
            ErrorKind::Corrupt
        );
        assert_eq!(registry.running_job_ids().await.unwrap(), [job(2)]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), garbage);
        assert!(health.snapshot().broken.contains_key(path.to_str().unwrap()));
    }
    registry.clear_job(job(1)).await.unwrap();
    assert!(!health.snapshot().is_degraded());
}
