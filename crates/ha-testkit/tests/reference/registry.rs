use std::sync::Arc;

use async_trait::async_trait;
use ha_core::ids::JobId;
use ha_core::jobs::JobSchedulingStatus::{self, Done, Pending, Running};
use ha_core::jobs::RunningJobsRegistry;
use ha_core::{ErrorKind, Result};

use super::Fault;
use super::disk::{corrupt, refused};
use super::process::Process;

pub(super) struct Registry {
    pub(super) process: Arc<Process>,
}

#[async_trait]
impl RunningJobsRegistry for Registry {
    async fn set_job_running(&self, job_id: JobId) -> Result<()> {
        self.process.check_write()?;
        let mut content = self.process.disk.lock();
        if content.registry.get(&job_id) == Some(&Some(Done)) && self.process.fault != Fault::DoneOverwritten
        {
            return Err(refused(ErrorKind::Conflict, "done is final"));
        }
        content.registry.insert(job_id, Some(Running));
        Ok(())
    }

    async fn set_job_finished(&self, job_id: JobId) -> Result<()> {
        self.process.check_write()?;
        self.process.disk.lock().registry.insert(job_id, Some(Done));
        Ok(())
    }

    async fn job_scheduling_status(&self, job_id: JobId) -> Result<JobSchedulingStatus> {
        match self.process.disk.lock().registry.get(&job_id) {
            None => Ok(Pending),
            Some(Some(status)) => Ok(*status),
            Some(None) if self.process.fault == Fault::BrokenStatusIsPending => Ok(Pending),
            Some(None) => Err(corrupt("registry", job_id)),
        }
    }

    async fn running_job_ids(&self) -> Result<Vec<JobId>> {
        let listed = |status: &Option<JobSchedulingStatus>| {
            *status == Some(Running)
                || (*status == Some(Done) && self.process.fault == Fault::DoneListedAsRunning)
        };
        let content = self.process.disk.lock();
        let running = content.registry.iter().filter(|(_, status)| listed(status));
        Ok(running.map(|(job, _)| *job).collect())
    }

    async fn clear_job(&self, job_id: JobId) -> Result<()> {
        self.process.check_write()?;
        self.process.disk.lock().registry.remove(&job_id);
        Ok(())
    }
}
