use std::sync::Arc;

use ha_services::ErrorKind;
use ha_services::ids::JobId;

use super::Dispatcher;
use super::term::{RunningJob, Term};
use crate::job::JobOverview;
use crate::jobmanager::{JobHandle, JobManager, JobManagerEnd};
use crate::{events, retry};

/// How a job came to this term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobOrigin {
    /// It was submitted in it, and has no recorded end.
    Submitted,
    /// It was there before; its end may be recorded.
    Recovered,
}

impl Dispatcher {
    /// Runs a job in this term, unless it runs already or its end is recorded.
    pub(super) fn spawn_job(&self, term: &Arc<Term>, handle: Arc<JobHandle>, origin: JobOrigin) {
        let stop = term.revoked.child_token();
        {
            let mut jobs = term.jobs();
            if jobs.contains_key(&handle.id()) {
                return;
            }
            let running = RunningJob {
                handle: Arc::clone(&handle),
                stop: stop.clone(),
            };
            jobs.insert(handle.id(), running);
        }
        let Some(this) = self.this.upgrade() else {
            return;
        };
        let term = Arc::clone(term);
        self.scope.spawn("job", async move {
            let job_id = handle.id();
            let manager = JobManager {
                job: handle,
                services: Arc::clone(&this.options.services),
                environment: this.options.environment.clone(),
                options: this.options.job_manager.clone(),
                metrics: this.options.metrics.clone(),
                revoked: stop,
                suspend: this.suspend.clone(),
            };
            let end = match origin {
                JobOrigin::Recovered if this.has_ended(&term, &manager).await => {
                    term.jobs().remove(&job_id);
                    return;
                }
                _ => this.run_job(&term, &manager).await,
            };
            let is_over = match end {
                JobManagerEnd::Ended(entry) => {
                    this.ended().remember(JobOverview::ended(&entry.result));
                    this.clean_up(&term, job_id).await;
                    true
                }
                JobManagerEnd::Suspended => manager.revoked.is_cancelled(),
            };
            // A suspended job stays listed while its term lasts, unless it was taken out by others.
            if is_over && !term.revoked.is_cancelled() && !this.suspend.is_cancelled() {
                term.jobs().remove(&job_id);
            }
        });
    }

    /// Whether the end of a recovered job is recorded. Tried until it is known or the term is over, when the answer
    /// does not matter.
    async fn has_ended(&self, term: &Term, manager: &JobManager) -> bool {
        let job = &manager.job;
        let results = self.options.services.job_result_store();
        let looking_up = retry::until_done(
            &self.options.environment,
            |error| {
                events::job_waits(job.id(), "looking up its end", error);
                job.set_reason(Some(format!("looking up its end failed: {error}")));
            },
            async || {
                let _one_of_few = term.lookups.acquire().await;
                results.has_job_result_entry(job.id()).await
            },
        );
        let ended = tokio::select! {
            biased;
            () = manager.revoked.cancelled() => false,
            () = manager.suspend.cancelled() => false,
            ended = looking_up => ended,
        };
        job.set_reason(None);
        ended
    }

    async fn run_job(&self, term: &Term, manager: &JobManager) -> JobManagerEnd {
        let job = &manager.job;
        let preparing = async {
            let claim = self.claims.claim(job.id()).await;
            let slot = tokio::select! {
                // A job that is cancelled before it has a slot needs none to end.
                biased;
                () = job.cancelled() => None,
                slot = self.options.resource_manager.acquire() => Some(slot),
            };
            (claim, slot)
        };
        let _held = tokio::select! {
            biased;
            () = manager.revoked.cancelled() => return JobManagerEnd::Suspended,
            () = manager.suspend.cancelled() => return JobManagerEnd::Suspended,
            held = preparing => held,
        };
        manager.run(&term.active).await
    }

    /// Goes on with the clean-up of a job that an earlier leader ended.
    pub(super) fn spawn_clean_up(&self, term: &Arc<Term>, job_id: JobId) {
        let Some(this) = self.this.upgrade() else {
            return;
        };
        let term = Arc::clone(term);
        self.scope
            .spawn("clean-up", async move { this.clean_up(&term, job_id).await });
    }

    /// Cleans up after a job whose end is recorded, then marks its result clean. Each step may be repeated, so
    /// whatever fails is tried again while the term lasts, and by the next leader after it.
    async fn clean_up(&self, term: &Term, job_id: JobId) {
        let _acting = term.active.token();
        let services = &self.options.services;
        let cleaning = retry::until_done(
            &self.options.environment,
            |error| events::job_waits(job_id, "cleaning up", error),
            async || {
                services.global_cleanup(job_id).await?;
                match services.job_result_store().mark_result_as_clean(job_id).await {
                    // With delete-on-commit nothing is left to mark the second time.
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    other => other,
                }
            },
        );
        tokio::select! {
            biased;
            () = term.revoked.cancelled() => {}
            () = cleaning => events::job_cleaned(job_id),
        }
        // The clean-up removed the graph past this term's store, which would take that for somebody else's doing
        // when the id is submitted again (with delete-on-commit that is allowed).
        if let Some(store) = term.store.get()
            && let Err(error) = store.release_job_graph(job_id).await
        {
            tracing::debug!(jobId = %job_id, %error, "the right to the job graph was not given up");
        }
    }
}
