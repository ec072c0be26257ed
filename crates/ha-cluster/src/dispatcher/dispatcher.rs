use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use ha_services::environment::{Environment, TaskScope};
use ha_services::ids::{JobId, LeaderSessionId};
use ha_services::services::HighAvailabilityServices;
use tokio_util::sync::CancellationToken;

use super::ended_jobs::EndedJobs;
use super::job_claims::JobClaims;
use super::term::Term;
use crate::component::Component;
use crate::jobmanager::JobManagerOptions;
use crate::resourcemanager::ResourceManager;
use crate::status::CheckpointMetrics;

/// What a dispatcher is made of.
pub struct DispatcherOptions {
    /// Where leadership and stores come from.
    pub services: Arc<dyn HighAvailabilityServices>,
    /// Time, ids and tasks.
    pub environment: Environment,
    /// Where slots come from.
    pub resource_manager: Arc<ResourceManager>,
    /// What job managers are told.
    pub job_manager: JobManagerOptions,
    /// Told of the checkpoints of all jobs.
    pub metrics: CheckpointMetrics,
}

/// Runs the cluster's jobs while it leads.
///
/// In each term it first cleans up after jobs whose end is recorded, then takes up those that have none.
pub struct Dispatcher {
    pub(super) options: DispatcherOptions,
    /// The process ends in order: running jobs stop after a last checkpoint, nothing new begins.
    pub(super) suspend: CancellationToken,
    pub(super) claims: JobClaims,
    pub(super) scope: TaskScope,
    pub(super) this: Weak<Self>,
    ended: Mutex<EndedJobs>,
    term: Mutex<Option<Arc<Term>>>,
}

impl Dispatcher {
    /// A dispatcher that does not lead yet.
    pub fn new(options: DispatcherOptions) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            scope: options.environment.task_scope(),
            options,
            suspend: CancellationToken::new(),
            claims: JobClaims::new(),
            this: this.clone(),
            ended: Mutex::new(EndedJobs::default()),
            term: Mutex::new(None),
        })
    }

    /// Stops running jobs, each after a last checkpoint, and accepts nothing new. Waits at most `limit`; what is
    /// under way then is given up with leadership. Deletes nothing.
    pub async fn suspend(&self, limit: Duration) {
        self.suspend.cancel();
        let Some(term) = self.current_term() else {
            return;
        };
        tokio::select! {
            () = term.settled() => {}
            () = self.options.environment.clock.sleep(limit) => {
                tracing::warn!(?limit, "not every job stopped in time; they go on from their last checkpoint");
            }
        }
    }

    /// Waits until every task has ended. The election must have been left before.
    pub async fn stop(&self) {
        if let Some(term) = self.take_term() {
            term.end().await;
        }
        self.scope.shutdown().await;
    }

    /// Whether these jobs are neither running here nor waiting for their clean-up.
    pub fn is_done_with(&self, jobs: &[JobId]) -> bool {
        self.current_term()
            .is_none_or(|term| jobs.iter().all(|job| !term.jobs().contains_key(job)))
    }

    pub(super) fn current_term(&self) -> Option<Arc<Term>> {
        self.lock_term().clone()
    }

    pub(super) fn ended(&self) -> MutexGuard<'_, EndedJobs> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_term(&self) -> Option<Arc<Term>> {
        self.lock_term().take()
    }

    fn lock_term(&self) -> MutexGuard<'_, Option<Arc<Term>>> {
        self.term.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Component for Dispatcher {
    async fn granted(&self, _session: LeaderSessionId) {
        let term = Arc::new(Term::new(self.scope.cancellation().child_token()));
        *self.lock_term() = Some(Arc::clone(&term));
        if let Some(this) = self.this.upgrade() {
            self.scope
                .spawn("dispatcher-term", async move { this.lead(term).await });
        }
    }

    async fn revoked(&self) {
        if let Some(term) = self.take_term() {
            term.end().await;
        }
    }
}
