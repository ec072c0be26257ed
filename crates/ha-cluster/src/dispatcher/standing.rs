use std::sync::Arc;

use super::Dispatcher;
use crate::job::JobOverview;
use crate::jobmanager::JobHandle;
use crate::status::{JobLine, JobsStatus};

/// A job that this process knows.
enum Known {
    Running(Arc<JobHandle>),
    Ended(JobOverview),
}

impl Dispatcher {
    /// The jobs that this process has in memory while it leads, without a look into ZooKeeper or the storage: what
    /// runs, and the last that ended here. `None`: it does not lead.
    pub fn standing(&self) -> Option<JobsStatus> {
        let term = self.current_term()?;
        let recovering = !*term.recovered.borrow();
        let mut known: Vec<_> = term
            .jobs()
            .values()
            .map(|job| Known::Running(Arc::clone(&job.handle)))
            .collect();
        let ended: Vec<_> = {
            let running = term.jobs();
            let ended = self.ended();
            ended
                .iter()
                .filter(|job| !running.contains_key(&job.id))
                .cloned()
                .collect()
        };
        known.extend(ended.into_iter().map(Known::Ended));
        Some(JobsStatus::collect(
            recovering,
            known,
            |job| match job {
                Known::Running(handle) => handle.glance(),
                Known::Ended(job) => (job.status, job.reason.is_some()),
            },
            |job| match job {
                Known::Running(handle) => handle.line(),
                Known::Ended(overview) => JobLine {
                    overview: overview.clone(),
                    checkpoint: None,
                },
            },
        ))
    }
}
