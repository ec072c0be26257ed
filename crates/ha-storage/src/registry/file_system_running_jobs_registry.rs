use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use ha_core::environment::steps;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::{JobSchedulingStatus, RunningJobsRegistry};

use crate::reports::Reports;
use crate::state::{StateKind, state_path};
use crate::storage::{HaStorage, corrupt};

/// The registry as files `running_job_registry/<job-id>`, for the modes of one process.
pub struct FileSystemRunningJobsRegistry {
    inner: Arc<Inner>,
}

struct Inner {
    storage: Arc<HaStorage>,
    reports: Reports,
}

impl FileSystemRunningJobsRegistry {
    /// The registry of the storage's cluster.
    pub fn new(storage: Arc<HaStorage>, health: HealthMonitor) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(Inner {
                storage,
                reports: Reports::new(health),
            }),
        })
    }

    async fn set(&self, job_id: JobId, status: JobSchedulingStatus) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.set-job-status", async move {
                inner.set(job_id, status).await
            })
            .await
    }
}

impl Inner {
    async fn status(&self, job_id: JobId) -> Result<JobSchedulingStatus> {
        let path = state_path::registry_file(job_id);
        let place = self.storage.display(path.as_str());
        let status = match self
            .storage
            .read_state(&path, StateKind::RunningJob, job_id)
            .await
        {
            Ok(None) => Ok(JobSchedulingStatus::Pending),
            Ok(Some(state)) => {
                let text = String::from_utf8_lossy(&state.payload);
                JobSchedulingStatus::from_name(&text)
                    .ok_or_else(|| corrupt(format!("{text:?} is no status of a job")).at(place.clone()))
            }
            Err(error) => Err(error),
        };
        match &status {
            Ok(_) => self.reports.well(&place),
            Err(error) => drop(self.reports.broken(job_id.to_string(), &place, error)),
        }
        status
    }

    async fn set(&self, job_id: JobId, status: JobSchedulingStatus) -> Result<()> {
        let _held = self.storage.shared().lock(&lock_name(job_id)).await;
        let path = state_path::registry_file(job_id);
        match (self.status(job_id).await?, status) {
            (now, wanted) if now == wanted => Ok(()),
            (JobSchedulingStatus::Done, _) => {
                Err(Error::new(ErrorKind::Conflict, "the job is done, which is final")
                    .at(self.storage.display(path.as_str()))
                    .advise("clear the job before it runs again")
                    .not_applied())
            }
            _ => {
                let text = status.name().as_bytes();
                self.storage
                    .replace_state(&path, StateKind::RunningJob, job_id, BTreeMap::new(), text)
                    .await
            }
        }
    }

    async fn clear(&self, job_id: JobId) -> Result<()> {
        let _held = self.storage.shared().lock(&lock_name(job_id)).await;
        let path = state_path::registry_file(job_id);
        let deleting = self.storage.folder().delete(&path);
        let environment = self.storage.environment();
        environment.step(steps::REMOVE_REGISTRY_ENTRY, deleting).await?;
        self.reports.well(&self.storage.display(path.as_str()));
        Ok(())
    }
}

fn lock_name(job_id: JobId) -> String {
    format!("registry/{job_id}")
}

#[async_trait]
impl RunningJobsRegistry for FileSystemRunningJobsRegistry {
    async fn set_job_running(&self, job_id: JobId) -> Result<()> {
        self.set(job_id, JobSchedulingStatus::Running).await
    }

    async fn set_job_finished(&self, job_id: JobId) -> Result<()> {
        self.set(job_id, JobSchedulingStatus::Done).await
    }

    async fn job_scheduling_status(&self, job_id: JobId) -> Result<JobSchedulingStatus> {
        self.inner.status(job_id).await
    }

    async fn running_job_ids(&self) -> Result<Vec<JobId>> {
        let mut running = Vec::new();
        for entry in self
            .inner
            .storage
            .list_states(StateKind::RunningJob, None)
            .await?
        {
            // A broken entry was reported; it does not hide the others.
            if let Ok(JobSchedulingStatus::Running) = self.inner.status(entry.owner).await {
                running.push(entry.owner);
            }
        }
        Ok(running)
    }

    async fn clear_job(&self, job_id: JobId) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.clear-job", async move { inner.clear(job_id).await })
            .await
    }
}
