use std::sync::Arc;

use async_trait::async_trait;
use ha_core::ids::JobId;
use ha_core::jobs::JobSchedulingStatus::{self, Done, Pending, Running};
use ha_core::jobs::RunningJobsRegistry;
use ha_core::{ErrorKind, Result};

use super::disk::{corrupt, refused};
use super::{Disk, Fault};

pub(super) struct Registry {
    pub(super) disk: Arc<Disk>,
    pub(super) fault: Fault,
}

#[async_trait]
impl RunningJobsRegistry for Registry {
    async fn set_job_running(&self, job_id: JobId) -> Result<()> {
        let mut content = self.disk.lock();
        if content.registry.get(&job_id) == Some(&Some(Done)) && self.fault != Fault::DoneOverwritten {
            return Err(refused(ErrorKind::Conflict, "done is final"));
        }
        content.registry.insert(job_id, Some(Running));
        Ok(())
    }

    async fn set_job_finished(&self, job_id: JobId) -> Result<()> {
        self.disk.lock().registry.insert(job_id, Some(Done));
        Ok(())
    }

    async fn job_scheduling_status(&self, job_id: JobId) -> Result<JobSchedulingStatus> {
        match self.disk.lock().registry.get(&job_id) {
            None => Ok(Pending),
            Some(Some(status)) => Ok(*status),
            Some(None) if self.fault == Fault::BrokenStatusIsPending => Ok(Pending),
            Some(None) => Err(corrupt("registry", job_id)),
        }
    }

    async fn running_job_ids(&self) -> Result<Vec<JobId>> {
        let listed = |status: &Option<JobSchedulingStatus>| {
            *status == Some(Running) || (*status == Some(Done) && self.fault == Fault::DoneListedAsRunning)
        };
        let content = self.disk.lock();
        let running = content.registry.iter().filter(|(_, status)| listed(status));
        Ok(running.map(|(job, _)| *job).collect())
    }

    async fn clear_job(&self, job_id: JobId) -> Result<()> {
        self.disk.lock().registry.remove(&job_id);
        Ok(())
    }
}
