use ha_services::ids::JobId;
use ha_services::jobs::JobStatus;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::job::{JobDigest, JobOverview, JobSpec};

/// A job that this process runs or is about to run: what it is, how it stands, and the way to cancel it.
#[derive(Debug)]
pub struct JobHandle {
    id: JobId,
    spec: JobSpec,
    digest: JobDigest,
    overview: watch::Sender<JobOverview>,
    cancel: CancellationToken,
}

impl JobHandle {
    /// A job that does not run yet.
    pub fn new(id: JobId, spec: JobSpec) -> Self {
        Self {
            digest: spec.digest(),
            overview: watch::Sender::new(JobOverview::created(id, &spec.name)),
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
        self.overview.borrow().clone()
    }

    /// Follows how it stands: always the latest, intermediate states maybe.
    pub fn subscribe(&self) -> watch::Receiver<JobOverview> {
        self.overview.subscribe()
    }

    /// Changes how it stands.
    pub fn update(&self, change: impl FnOnce(&mut JobOverview)) {
        self.overview.send_modify(change);
    }

    /// Sets or clears what it waits for.
    pub fn set_reason(&self, reason: Option<String>) {
        self.update(|overview| overview.reason = reason);
    }

    /// Asks it to end. Idempotent.
    pub fn cancel(&self) {
        self.update(|overview| overview.status = JobStatus::Cancelling);
        self.cancel.cancel();
    }

    /// Completes when it was asked to end.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Whether it was asked to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
