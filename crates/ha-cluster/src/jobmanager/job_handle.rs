use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ha_services::ids::JobId;
use ha_services::jobs::JobStatus;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::job::{JobDigest, JobOverview, JobSpec};
use crate::status::{CheckpointNote, JobLine};

/// A job that this process runs or is about to run: what it is, how it stands, and the way to cancel it.
#[derive(Debug)]
pub struct JobHandle {
    id: JobId,
    spec: JobSpec,
    digest: JobDigest,
    overview: watch::Sender<JobOverview>,
    /// How many bytes of the source are counted, kept up to date by the task.
    progress: Arc<AtomicU64>,
    /// The newest checkpoint that was taken here.
    checkpoint: watch::Sender<Option<CheckpointNote>>,
    cancel: CancellationToken,
}

impl JobHandle {
    /// A job that does not run yet.
    pub fn new(id: JobId, spec: JobSpec) -> Self {
        Self {
            digest: spec.digest(),
            overview: watch::Sender::new(JobOverview::created(id, &spec.name)),
            progress: Arc::default(),
            checkpoint: watch::Sender::new(None),
            cancel: CancellationToken::new(),
            id,
            spec,
        }
    }

    /// Its id.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// What it does.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// The digest of its content.
    pub fn digest(&self) -> &JobDigest {
        &self.digest
    }

    /// How it stands.
    pub fn overview(&self) -> JobOverview {
        let mut overview = self.overview.borrow().clone();
        if overview.total_bytes.is_some() {
            overview.progress_bytes = Some(self.progress.load(Ordering::Relaxed));
        }
        overview
    }

    /// Its status, and whether it waits for something: less work than all of how it stands.
    pub fn glance(&self) -> (JobStatus, bool) {
        let overview = self.overview.borrow();
        (overview.status, overview.reason.is_some())
    }

    /// How it stands, with its newest checkpoint.
    pub fn line(&self) -> JobLine {
        JobLine {
            overview: self.overview(),
            checkpoint: *self.checkpoint.borrow(),
        }
    }

    /// A checkpoint was taken.
    pub(super) fn note_checkpoint(&self, checkpoint: CheckpointNote) {
        self.checkpoint.send_replace(Some(checkpoint));
    }

    /// Where the task that counts tells how far it is.
    pub(super) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Changes how it stands.
    pub fn update(&self, change: impl FnOnce(&mut JobOverview)) {
        self.overview.send_modify(change);
    }

    /// Sets or clears what it waits for.
    pub fn set_reason(&self, reason: Option<String>) {
        self.update(|overview| overview.reason = reason);
    }

    /// Asks it to end. Idempotent; one whose end is recorded stays as it is. The wish is kept in memory only: a
    /// leader that goes before the end is recorded takes it along, and the job goes on with the next one.
    pub fn cancel(&self) {
        self.update(|overview| {
            if !overview.status.is_globally_terminal() {
                overview.status = JobStatus::Cancelling;
            }
        });
        self.cancel.cancel();
    }

    /// Completes when it was asked to end.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wish_to_cancel_changes_no_end() {
        let spec = JobSpec {
            name: "x".to_owned(),
            source: "/a".into(),
            sink: "/b".into(),
            checkpoint_interval: Duration::from_secs(1),
            lines_per_second: None,
        };
        let job = JobHandle::new(JobId::from_bytes([1; 16]), spec);
        job.cancel();
        assert_eq!(job.overview().status, JobStatus::Cancelling);
        job.update(|overview| overview.status = JobStatus::Finished);
        job.cancel();
        assert_eq!(job.overview().status, JobStatus::Finished);
    }
}
