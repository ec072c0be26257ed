use std::collections::VecDeque;

use ha_services::ids::JobId;

use crate::job::JobOverview;

/// How many are remembered.
const CAPACITY: usize = 1000;

/// The last jobs that ended here, for those who ask after the recorded result was deleted. Decides nothing.
#[derive(Debug, Default)]
pub(super) struct EndedJobs {
    jobs: VecDeque<JobOverview>,
}

impl EndedJobs {
    pub(super) fn remember(&mut self, job: JobOverview) {
        self.jobs.retain(|known| known.id != job.id);
        if self.jobs.len() >= CAPACITY {
            self.jobs.pop_front();
        }
        self.jobs.push_back(job);
    }

    /// All of them, the last one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &JobOverview> {
        self.jobs.iter().rev()
    }

    pub(super) fn get(&self, job_id: JobId) -> Option<JobOverview> {
        self.jobs.iter().find(|job| job.id == job_id).cloned()
    }
}
