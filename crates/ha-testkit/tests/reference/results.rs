use std::sync::Arc;

use async_trait::async_trait;
use ha_core::health::{BrokenEntry, Recovered};
use ha_core::ids::JobId;
use ha_core::jobs::{JobResultEntry, JobResultStore};
use ha_core::{ErrorKind, Result};

use super::Fault;
use super::disk::{corrupt, refused};
use super::process::Process;

pub(super) struct Results {
    pub(super) process: Arc<Process>,
}

impl Results {
    fn is(&self, job: JobId, dirty: bool) -> bool {
        self.process
            .disk
            .lock()
            .results
            .get(&job)
            .is_some_and(|(_, stored)| *stored == dirty)
    }

    fn list(&self, dirty: bool) -> Result<Recovered<JobResultEntry>> {
        let mut recovered = Recovered::default();
        for (job, (entry, _)) in self
            .process
            .disk
            .lock()
            .results
            .iter()
            .filter(|(_, (_, stored))| *stored == dirty)
        {
            match entry {
                Some(entry) => recovered.entries.push(entry.clone()),
                None if self.process.fault == Fault::TornResultHidesOthers => {
                    return Err(corrupt("results", *job));
                }
                None => {
                    let path = format!("results/{job}");
                    let error = corrupt("results", *job);
                    recovered
                        .broken
                        .push(BrokenEntry::from_error(job.to_string(), path, &error));
                }
            }
        }
        Ok(recovered)
    }
}

#[async_trait]
impl JobResultStore for Results {
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()> {
        self.process.check_write()?;
        let job = entry.job_id();
        let mut content = self.process.disk.lock();
        let accepted = match content.results.get(&job) {
            None => true,
            Some((None, _)) => self.process.fault == Fault::TornResultForgotten,
            Some((_, true)) => self.process.fault == Fault::SecondEndOverwrites,
            Some((_, false)) => self.process.fault == Fault::DirtyAfterClean,
        };
        if !accepted {
            return Err(refused(ErrorKind::AlreadyExists, "the job has ended"));
        }
        content.results.insert(job, (Some(entry.clone()), true));
        Ok(())
    }

    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()> {
        self.process.check_write()?;
        let mut content = self.process.disk.lock();
        match content.results.get_mut(&job_id) {
            Some((_, dirty)) => {
                *dirty = false;
                if self.process.fault == Fault::CleanForgotten {
                    content.results.remove(&job_id);
                }
                Ok(())
            }
            None if self.process.fault == Fault::CleanOfUnknown => Ok(()),
            None => Err(refused(ErrorKind::NotFound, "nothing is recorded")),
        }
    }

    async fn has_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.process.disk.lock().results.contains_key(&job_id))
    }

    async fn has_dirty_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.is(job_id, true))
    }

    async fn has_clean_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        Ok(self.is(job_id, false))
    }

    async fn job_result_entry(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        match self.process.disk.lock().results.get(&job_id) {
            None => Ok(None),
            Some((Some(entry), _)) => Ok(Some(entry.clone())),
            Some((None, _)) => Err(corrupt("results", job_id)),
        }
    }

    async fn dirty_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.list(true)
    }

    async fn clean_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.list(false)
    }
}
