use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ha_services::ids::JobId;
use ha_services::jobs::JobGraphStore;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::jobmanager::JobHandle;

/// How many recorded ends are looked up at a time.
const CONCURRENT_LOOKUPS: usize = 16;

/// A job that runs in a term, and the signal that stops it alone.
#[derive(Clone, Debug)]
pub(super) struct RunningJob {
    pub(super) handle: Arc<JobHandle>,
    pub(super) stop: CancellationToken,
}

/// One term of the dispatcher. Whatever acts in it holds a token of `active` and ends soon after `revoked`.
pub(super) struct Term {
    pub(super) revoked: CancellationToken,
    pub(super) active: TaskTracker,
    /// Whether the jobs of earlier leaders are known; nothing is accepted before.
    pub(super) recovered: watch::Sender<bool>,
    /// Set before `recovered`.
    pub(super) store: OnceLock<Arc<dyn JobGraphStore>>,
    /// One submission at a time, so that two of one id cannot both find it free.
    pub(super) submissions: tokio::sync::Mutex<()>,
    /// How many jobs' ends are looked up at a time.
    pub(super) lookups: Semaphore,
    jobs: Mutex<BTreeMap<JobId, RunningJob>>,
}

impl Term {
    pub(super) fn new(revoked: CancellationToken) -> Self {
        Self {
            revoked,
            active: TaskTracker::new(),
            recovered: watch::Sender::new(false),
            store: OnceLock::new(),
            submissions: tokio::sync::Mutex::new(()),
            lookups: Semaphore::new(CONCURRENT_LOOKUPS),
            jobs: Mutex::new(BTreeMap::new()),
        }
    }

    /// The jobs that run, or have ended and are not cleaned up yet.
    pub(super) fn jobs(&self) -> MutexGuard<'_, BTreeMap<JobId, RunningJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the term: completes when nothing acts in it any more.
    pub(super) async fn end(&self) {
        self.revoked.cancel();
        self.settled().await;
    }

    /// Completes when nothing acts in it.
    pub(super) async fn settled(&self) {
        self.active.close();
        self.active.wait().await;
    }
}
