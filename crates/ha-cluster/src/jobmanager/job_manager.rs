use std::sync::Arc;

use ha_services::Error;
use ha_services::environment::Environment;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::jobs::{JobResultEntry, JobStatus};
use ha_services::services::HighAvailabilityServices;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::JobHandle;
use super::job_execution::{ExecutionEnd, JobExecution};
use super::job_leadership::JobLeadership;
use crate::component::Contending;
use crate::status::CheckpointMetrics;
use crate::{events, retry};

/// What a job manager is told.
#[derive(Clone, Debug)]
pub struct JobManagerOptions {
    /// The address that leaders of jobs publish.
    pub address: String,
    /// How many checkpoints of a job are kept.
    pub retained_checkpoints: usize,
    /// Whether a job takes a last checkpoint when the process ends in order.
    pub checkpoint_on_suspend: bool,
}

/// How the work of a job manager ended.
#[derive(Debug)]
pub enum JobManagerEnd {
    /// The end of the job is recorded; it is to be cleaned up.
    Ended(JobResultEntry),
    /// The job goes on elsewhere or later; nothing of it was deleted.
    Suspended,
}

/// Runs one job while this process leads it.
pub struct JobManager {
    /// The job.
    pub job: Arc<JobHandle>,
    /// Where leadership, checkpoints and results come from.
    pub services: Arc<dyn HighAvailabilityServices>,
    /// Time, ids and tasks.
    pub environment: Environment,
    /// What it is told.
    pub options: JobManagerOptions,
    /// Told of the checkpoints.
    pub metrics: CheckpointMetrics,
    /// The dispatcher leads no more: the job stops at once.
    pub revoked: CancellationToken,
    /// The process ends in order: the job stops after a last checkpoint.
    pub suspend: CancellationToken,
}

impl JobManager {
    /// Contends for the job, runs it in every term that is granted, and leaves the election.
    ///
    /// A token of `active` is held while the job acts, and given back before the election is left: whoever
    /// revokes the dispatcher waits for the first, and must not wait for the second.
    pub async fn run(&self, active: &TaskTracker) -> JobManagerEnd {
        let leadership = Arc::new(JobLeadership::new());
        let Some(contending) = self.contend(&leadership).await else {
            return JobManagerEnd::Suspended;
        };
        // Its last term is over, and it has been told that the job stopped: that it stays so is no second stop.
        let mut stands_still = false;
        let end = loop {
            let granted = tokio::select! {
                biased;
                () = self.revoked.cancelled() => Err("the dispatcher leads no more"),
                () = self.suspend.cancelled() => Err("the process ends"),
                session = leadership.granted_session() => Ok(session),
            };
            let session = match granted {
                Ok(session) => session,
                Err(_) if stands_still => break JobManagerEnd::Suspended,
                Err(reason) => break self.suspended(reason),
            };
            if let Some(end) = self.run_term(&contending, &leadership, session, active).await {
                break end;
            }
            stands_still = true;
        };
        contending.stop().await;
        end
    }

    async fn contend(&self, leadership: &Arc<JobLeadership>) -> Option<Contending> {
        let start = retry::until_done(
            &self.environment,
            |error| events::job_waits(self.job.id(), "contending for the job", error),
            || {
                let component: Arc<JobLeadership> = Arc::clone(leadership);
                Contending::start(
                    self.services.as_ref(),
                    ComponentId::job_manager(self.job.id()),
                    &self.options.address,
                    component,
                )
            },
        );
        tokio::select! {
            biased;
            () = self.revoked.cancelled() => None,
            () = self.suspend.cancelled() => None,
            contending = start => Some(contending),
        }
    }

    /// Runs the job in one term. `None`: the term is over, the job waits for the next.
    async fn run_term(
        &self,
        contending: &Contending,
        leadership: &JobLeadership,
        session: LeaderSessionId,
        active: &TaskTracker,
    ) -> Option<JobManagerEnd> {
        let _acting = (active.token(), leadership.active().token());
        let execution = JobExecution {
            manager: self,
            contending,
            session,
        };
        // Giving an execution up is dropping it: what is under way is fenced, and nothing new begins.
        tokio::select! {
            biased;
            () = self.revoked.cancelled() => Some(self.suspended("the dispatcher leads no more")),
            () = leadership.over(session) => {
                self.suspended("its leadership is over");
                None
            }
            end = execution.run() => Some(match end {
                ExecutionEnd::Ended(entry) => JobManagerEnd::Ended(entry),
                ExecutionEnd::Suspended => self.suspended("the process ends"),
                ExecutionEnd::Broken(error) => self.broken(error),
            }),
        }
    }

    /// The process must not go on after a defect. Where it does, the job waits for the next term.
    fn broken(&self, error: Error) -> JobManagerEnd {
        let error = error.at(format!("job {}", self.job.id()));
        self.job.update(|overview| {
            overview.status = JobStatus::Created;
            overview.reason = Some(format!("a defect stopped it, the next term takes it up: {error}"));
        });
        self.environment.fatal_error_handler.on_fatal_error(error);
        self.suspended("a defect")
    }

    fn suspended(&self, reason: &str) -> JobManagerEnd {
        events::job_suspended(self.job.id(), reason);
        JobManagerEnd::Suspended
    }
}
