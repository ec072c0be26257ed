use std::io;
use std::sync::Arc;
use std::time::Duration;

use ha_services::environment::TaskScope;
use ha_services::ids::LeaderSessionId;
use ha_services::jobs::{ApplicationStatus, JobResultEntry, JobStatus};
use ha_services::{Effect, Error, ErrorKind, Result};

use super::JobHandle;
use super::checkpointer::Checkpointer;
use super::job_manager::JobManager;
use super::job_outcome::JobOutcome;
use crate::blocking::blocking;
use crate::component::Contending;
use crate::status::CheckpointNote;
use crate::wordcount::{Sink, Snapshot, TaskEnd, WordCount, WordCountTask};
use crate::{events, file_fault, job, retry};

/// How often in a row a sink that is gone is tried before the job fails.
const SINK_ATTEMPTS: u32 = 5;

/// How long the sink's folder may take to be swept.
const SWEEP_WAIT: Duration = Duration::from_secs(5);

/// How an execution ended by itself.
pub(super) enum ExecutionEnd {
    /// The end of the job is recorded.
    Ended(JobResultEntry),
    /// The process ends; the job goes on elsewhere.
    Suspended,
    /// A defect of this program. The job is not ended by it (I8); the next term or process takes it up.
    Broken(Error),
}

/// How an execution came to know what is to become of the job.
enum Attempt {
    Outcome(JobOutcome),
    Suspended,
    Broken(Error),
}

/// One attempt at a job, in one term of its leadership.
///
/// Invariant: nothing here ends a job but the end of its text, a source or sink that is certainly gone, and a
/// user's wish; errors of ZooKeeper and of the HA storage are waited out, and a defect of this program suspends
/// the job (I8).
pub(super) struct JobExecution<'a> {
    pub(super) manager: &'a JobManager,
    pub(super) contending: &'a Contending,
    pub(super) session: LeaderSessionId,
}

impl JobExecution<'_> {
    /// Recovers, runs, and records the end.
    pub(super) async fn run(&self) -> ExecutionEnd {
        let job = &self.manager.job;
        let scope = self.manager.environment.task_scope();
        let outcome = match self.work(&scope).await {
            Attempt::Outcome(outcome) => outcome,
            Attempt::Suspended => return ExecutionEnd::Suspended,
            Attempt::Broken(error) => return ExecutionEnd::Broken(error),
        };
        // Waits for the worker, so that nothing of this attempt is left when the end is recorded.
        scope.shutdown().await;
        self.sweep_sink().await;
        let entry = self.record(&outcome).await;
        let ended = job::JobOverview::ended(&entry.result);
        events::job_ended(job.id(), ended.status);
        job.update(|overview| {
            overview.status = ended.status;
            overview.reason = ended.reason;
        });
        ExecutionEnd::Ended(entry)
    }

    /// Runs to the point where the end is known.
    async fn work(&self, scope: &TaskScope) -> Attempt {
        let job = &self.manager.job;
        let (checkpointer, snapshot) = tokio::select! {
            biased;
            () = job.cancelled() => return Attempt::Outcome(JobOutcome::canceled(0)),
            () = self.manager.suspend.cancelled() => return Attempt::Suspended,
            recovered = self.recover() => recovered,
        };
        self.sweep_sink().await;
        self.note_running().await;
        let started = self.manager.environment.clock.now();
        let run_before = snapshot.run_millis;
        let run_millis = || {
            let elapsed = self.manager.environment.clock.now().saturating_since(started);
            run_before.saturating_add(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
        };
        let environment = &self.manager.environment;
        let mut task = WordCountTask::start(scope, environment, job.spec(), snapshot, job.progress());
        match self.count(&mut task, &checkpointer).await {
            Counting::Ended(TaskEnd::Counted(snapshot)) => self.put_sink(snapshot).await,
            Counting::Ended(TaskEnd::Failed(error)) => {
                Attempt::Outcome(JobOutcome::failed(&error, run_millis()))
            }
            Counting::Ended(TaskEnd::Broken(error)) => Attempt::Broken(error),
            Counting::Canceled => Attempt::Outcome(JobOutcome::canceled(run_millis())),
            Counting::Suspended => Attempt::Suspended,
        }
    }

    /// Waits until checkpoints and counter are recovered, and gives the state to go on from.
    async fn recover(&self) -> (Checkpointer, Snapshot) {
        let manager = self.manager;
        let job = &manager.job;
        let (checkpointer, snapshot) = retry::until_done(
            &manager.environment,
            |error| {
                events::job_waits(job.id(), "recovering its checkpoints", error);
                job.set_reason(Some(format!("recovering its checkpoints failed: {error}")));
            },
            async || {
                let (checkpointer, latest) = Checkpointer::recover(
                    manager.services.as_ref(),
                    Arc::clone(&manager.environment.clock),
                    job.id(),
                    manager.options.retained_checkpoints,
                )
                .await?;
                let restored = match latest {
                    Some(latest) => {
                        let id = latest.checkpoint_id;
                        let snapshot = Snapshot::decode(&latest.payload)
                            .map_err(|error| error.at(format!("checkpoint {id} of job {}", job.id())))?;
                        Some((id, snapshot))
                    }
                    None => None,
                };
                Ok((checkpointer, restored))
            },
        )
        .await;
        job.set_reason(None);
        match snapshot {
            Some((id, snapshot)) => {
                events::restored(job.id(), self.session, id, snapshot.word_count.offset());
                job.update(|overview| {
                    overview.restored_checkpoint_id = Some(id);
                    overview.latest_checkpoint_id = Some(id);
                });
                (checkpointer, snapshot)
            }
            None => {
                events::job_started(job.id(), self.session);
                (checkpointer, Snapshot::default())
            }
        }
    }

    /// Tells observers that the job runs. The registry decides nothing, so a failure is only logged.
    async fn note_running(&self) {
        let manager = self.manager;
        let job = &manager.job;
        let source = job.spec().source.clone();
        let total = blocking(move || std::fs::metadata(source).map(|metadata| metadata.len())).await;
        job.update(|overview| {
            if overview.status == JobStatus::Created {
                overview.status = JobStatus::Running;
            }
            overview.leader = Some(manager.options.address.clone());
            overview.total_bytes = total.ok().and_then(io::Result::ok);
        });
        if let Err(error) = manager
            .services
            .running_jobs_registry()
            .set_job_running(job.id())
            .await
        {
            tracing::warn!(jobId = %job.id(), %error, "the registry of running jobs was not told");
        }
    }

    /// Counts, with a checkpoint every interval.
    async fn count(&self, task: &mut WordCountTask, checkpointer: &Checkpointer) -> Counting {
        let job = &self.manager.job;
        let interval = job.spec().checkpoint_interval;
        let mut failures = retry::backoff();
        let mut wait = interval;
        loop {
            tokio::select! {
                biased;
                () = job.cancelled() => return Counting::Canceled,
                () = self.manager.suspend.cancelled() => {
                    if self.manager.options.checkpoint_on_suspend {
                        let _ = self.checkpoint(task, checkpointer).await;
                    }
                    return Counting::Suspended;
                }
                end = task.ended() => return Counting::Ended(end),
                () = self.manager.environment.clock.sleep(wait) => {}
            }
            // Not given up for a wish to cancel: a checkpoint that is half taken would outlive the clean-up.
            wait = match self.checkpoint(task, checkpointer).await {
                Ok(()) => {
                    failures.reset();
                    interval
                }
                Err(_) => failures.next_delay().max(interval),
            };
        }
    }

    /// Takes one checkpoint. The error is already told.
    async fn checkpoint(&self, task: &WordCountTask, checkpointer: &Checkpointer) -> Result<()> {
        let job = &self.manager.job;
        let Some(payload) = task.snapshot().await else {
            return Ok(());
        };
        let bytes = payload.len();
        let clock = &self.manager.environment.clock;
        let begun = clock.now();
        match checkpointer.take(payload).await {
            Ok(id) => {
                let acknowledged = clock.now();
                let took = acknowledged.saturating_since(begun);
                self.manager.metrics.completed(took);
                job.note_checkpoint(CheckpointNote {
                    id,
                    acknowledged,
                    took,
                    bytes,
                });
                events::checkpoint_completed(job.id(), self.session, id, bytes);
                job.update(|overview| {
                    overview.latest_checkpoint_id = Some(id);
                    overview.reason = task.trouble().map(|error| error.to_string());
                });
                Ok(())
            }
            Err(error) => {
                self.manager.metrics.failed();
                events::checkpoint_failed(job.id(), &error);
                job.set_reason(Some(format!("the last checkpoint failed: {error}")));
                Err(error)
            }
        }
    }

    /// Puts the counts in place. What may pass is waited out; only a sink that is certainly gone ends the job.
    async fn put_sink(&self, snapshot: Snapshot) -> Attempt {
        let job = &self.manager.job;
        let run_millis = snapshot.run_millis;
        let count = Arc::new(snapshot.word_count);
        let mut backoff = retry::backoff();
        let mut failures = 0;
        loop {
            let error = match self.try_put_sink(job, Arc::clone(&count)).await {
                Ok(()) => {
                    job.set_reason(None);
                    return Attempt::Outcome(JobOutcome {
                        status: ApplicationStatus::Succeeded,
                        cause: None,
                        run_millis,
                    });
                }
                Err(error) if error.kind() == ErrorKind::Internal => return Attempt::Broken(error),
                Err(error) => error,
            };
            failures += u32::from(!error.is_retryable());
            if failures >= SINK_ATTEMPTS {
                return Attempt::Outcome(JobOutcome::failed(&error, run_millis));
            }
            events::job_waits(job.id(), "writing the sink", &error);
            job.set_reason(Some(format!("writing the sink failed: {error}")));
            tokio::select! {
                biased;
                () = job.cancelled() => return Attempt::Outcome(JobOutcome::canceled(run_millis)),
                () = self.manager.suspend.cancelled() => return Attempt::Suspended,
                () = self.manager.environment.clock.sleep(backoff.next_delay()) => {}
            }
        }
    }

    async fn try_put_sink(&self, job: &JobHandle, count: Arc<WordCount>) -> Result<()> {
        let path = &job.spec().sink;
        let sink = Sink::new(path, job.id(), self.session);
        let failed = |error: io::Error| sink_error(&error).at(path.display().to_string());
        let written = blocking(move || sink.write(&count)).await?.map_err(failed)?;
        if !self.contending.has_leadership(self.session).await {
            // The revocation is on its way; the next term writes the sink.
            return Err(Error::new(ErrorKind::Unavailable, "the job is led no more").not_applied());
        }
        blocking(move || written.put_in_place()).await?.map_err(failed)
    }

    /// Takes away what a killed process left beside the sink. It decides nothing, so it is not insisted on.
    async fn sweep_sink(&self) {
        let job = &self.manager.job;
        let sink = Sink::new(&job.spec().sink, job.id(), self.session);
        tokio::select! {
            swept = blocking(move || sink.remove_temporaries()) => match swept {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(jobId = %job.id(), %error, "temporary files beside the sink may be left");
                }
                Err(error) => {
                    tracing::error!(jobId = %job.id(), %error, "temporary files beside the sink may be left");
                }
            },
            () = self.manager.environment.clock.sleep(SWEEP_WAIT) => {
                tracing::warn!(jobId = %job.id(), "the sink's folder does not answer");
            }
        }
    }

    /// Records the end. Returns what is recorded, which may be another's end of the job.
    async fn record(&self, outcome: &JobOutcome) -> JobResultEntry {
        let manager = self.manager;
        let job = &manager.job;
        let entry = outcome.to_entry(job, manager.environment.clock.wall_time_millis());
        let results = manager.services.job_result_store();
        let recorded = retry::until_done(
            &manager.environment,
            |error| {
                events::job_waits(job.id(), "recording its end", error);
                job.set_reason(Some(format!("recording its end failed: {error}")));
            },
            async || match results.create_dirty_result(&entry).await {
                Ok(()) => Ok(entry.clone()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    recorded_end(&results, &entry).await
                }
                // Perhaps it was recorded; only reading tells, and only "yes" is an answer.
                Err(error) if error.effect() == Effect::Unknown => {
                    match results.job_result_entry(job.id()).await {
                        Ok(Some(recorded)) => Ok(recorded),
                        _ => Err(error),
                    }
                }
                Err(error) => Err(error),
            },
        )
        .await;
        if let Err(error) = manager
            .services
            .running_jobs_registry()
            .set_job_finished(job.id())
            .await
        {
            tracing::warn!(jobId = %job.id(), %error, "the registry of running jobs was not told");
        }
        recorded
    }
}

/// How counting came to its end.
enum Counting {
    Ended(TaskEnd),
    Canceled,
    Suspended,
}

/// The end that is recorded already. One that cannot be read is an end all the same.
async fn recorded_end(
    results: &Arc<dyn ha_services::jobs::JobResultStore>,
    ours: &JobResultEntry,
) -> Result<JobResultEntry> {
    match results.job_result_entry(ours.job_id()).await {
        Ok(Some(recorded)) => Ok(recorded),
        Ok(None) => Ok(ours.clone()),
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let mut entry = ours.clone();
            entry.result.application_status = ApplicationStatus::Unknown;
            Ok(entry)
        }
        Err(error) => Err(error),
    }
}

/// What failed at the sink: `Unavailable` where waiting may help.
fn sink_error(error: &io::Error) -> Error {
    let (kind, advice) = if file_fault::is_permanent(error) {
        (ErrorKind::Invalid, "check the sink's folder")
    } else {
        (ErrorKind::Unavailable, file_fault::advice(error))
    };
    Error::new(kind, format!("the sink cannot be written: {error}"))
        .not_applied()
        .advise(advice)
}
