use std::sync::Arc;
use std::time::Duration;

use ha_services::ids::JobId;
use ha_services::jobs::{JobGraph, JobGraphStore, JobResult};
use ha_services::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

use super::Dispatcher;
use super::job_runner::JobOrigin;
use super::term::Term;
use crate::blocking::blocking;
use crate::events;
use crate::job::{JobOverview, JobSpec, check_job_files};
use crate::jobmanager::JobHandle;

/// How long a request waits for a new leader's recovery.
const RECOVERY_WAIT: Duration = Duration::from_secs(10);

/// The answer to a submission.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The job.
    pub id: JobId,
    /// Its recorded end: it is not run again.
    pub ended: Option<JobResult>,
}

impl Dispatcher {
    /// Accepts a job: it is durable when this returns. The same id with the same content is success, whether the
    /// job runs or has ended; nothing runs twice.
    ///
    /// # Errors
    /// `Invalid` when source or sink cannot be used; `AlreadyExists` when a job or a result of the id has other
    /// content; `NotLeader`; `Unavailable` while the cluster's jobs are being recovered, or when the outcome
    /// could not be read back: the same submission may be sent again.
    pub async fn submit(&self, id: JobId, spec: JobSpec) -> Result<Submitted> {
        // In a task of its own: a client that goes away half-way must not leave a job that is durable and not run.
        let this = self
            .this
            .upgrade()
            .ok_or_else(|| Error::closed("the dispatcher"))?;
        let (answer, answered) = oneshot::channel();
        self.scope.spawn("submission", async move {
            let outcome = this
                .in_term(async |term| this.submit_in(&term, id, spec).await)
                .await;
            // The client may be gone.
            let _ = answer.send(outcome);
        });
        answered.await.map_err(|_| Error::closed("the dispatcher"))?
    }

    /// All jobs: those that run, and those whose result is recorded, by id.
    ///
    /// # Errors
    /// `NotLeader`, `Unavailable`.
    pub async fn jobs(&self) -> Result<Vec<JobOverview>> {
        self.in_term(async |term| {
            let results = self.options.services.job_result_store();
            let mut jobs = std::collections::BTreeMap::new();
            for recorded in [results.clean_results().await?, results.dirty_results().await?] {
                for entry in recorded.entries {
                    jobs.insert(entry.job_id(), JobOverview::ended(&entry.result));
                }
            }
            // What runs is told last: it knows more.
            for (id, job) in term.jobs().iter() {
                jobs.insert(*id, job.handle.overview());
            }
            Ok(jobs.into_values().collect())
        })
        .await
    }

    /// One job. `None` when nothing is known of it.
    ///
    /// # Errors
    /// `NotLeader`, `Unavailable`; `Corrupt` when its result is there and unreadable.
    pub async fn job(&self, id: JobId) -> Result<Option<JobOverview>> {
        self.in_term(async |term| {
            let running = term.jobs().get(&id).map(|job| job.handle.overview());
            if running.is_some() {
                return Ok(running);
            }
            let recorded = self
                .options
                .services
                .job_result_store()
                .job_result_entry(id)
                .await?;
            if let Some(entry) = recorded {
                return Ok(Some(JobOverview::ended(&entry.result)));
            }
            if let Some(store) = term.store.get()
                && store.job_ids().await?.contains(&id)
            {
                let mut unreadable = JobOverview::created(id, "");
                unreadable.reason = Some("its job graph cannot be used; it was left as it is".to_owned());
                return Ok(Some(unreadable));
            }
            Ok(self.ended().get(id))
        })
        .await
    }

    /// Asks a job to end. One that has ended stays as it is. `false`: nothing is known of it. The wish is not
    /// durable: whoever must know asks after the job until it has ended.
    ///
    /// # Errors
    /// `NotLeader`, `Unavailable`.
    pub async fn cancel(&self, id: JobId) -> Result<bool> {
        self.in_term(async |term| {
            let running = term.jobs().get(&id).cloned();
            match running {
                Some(job) => {
                    job.handle.cancel();
                    Ok(true)
                }
                None => {
                    self.options
                        .services
                        .job_result_store()
                        .has_job_result_entry(id)
                        .await
                }
            }
        })
        .await
    }

    /// Acts in the present term, once it has recovered; given up when the term is over.
    async fn in_term<T>(&self, act: impl AsyncFnOnce(Arc<Term>) -> Result<T>) -> Result<T> {
        let not_leading = || Error::not_leader("this process's dispatcher does not lead");
        let term = self.current_term().ok_or_else(not_leading)?;
        let _acting = term.active.token();
        let acting = async {
            let mut recovered = term.recovered.subscribe();
            tokio::select! {
                biased;
                _ = recovered.wait_for(|recovered| *recovered) => {}
                () = self.options.environment.clock.sleep(RECOVERY_WAIT) => {
                    return Err(Error::new(ErrorKind::Unavailable, "the cluster's jobs are still being recovered")
                        .not_applied());
                }
            }
            act(Arc::clone(&term)).await
        };
        tokio::select! {
            biased;
            () = term.revoked.cancelled() => Err(not_leading()),
            () = self.suspend.cancelled() => Err(not_leading()),
            outcome = acting => outcome,
        }
    }

    async fn submit_in(&self, term: &Arc<Term>, id: JobId, spec: JobSpec) -> Result<Submitted> {
        let _one_at_a_time = term.submissions.lock().await;
        let handle = JobHandle::new(id, spec);
        if let Some(running) = term.jobs().get(&id) {
            return same_content(id, Some(running.handle.digest().as_str()), &handle)
                .map(|()| Submitted { id, ended: None });
        }
        if let Some(ended) = self.recorded_end(&handle).await? {
            return Ok(Submitted {
                id,
                ended: Some(ended),
            });
        }
        let files = handle.spec().clone();
        blocking(move || check_job_files(&files)).await??;
        let Some(store) = term.store.get() else {
            return Err(Error::new(ErrorKind::Unavailable, "the job graph store is not ready").not_applied());
        };
        self.put_graph(store.as_ref(), &handle).await?;
        events::job_accepted(id, &handle.spec().name);
        self.spawn_job(term, Arc::new(handle), JobOrigin::Submitted);
        Ok(Submitted { id, ended: None })
    }

    /// The recorded end of the same job, by one look-up.
    async fn recorded_end(&self, handle: &JobHandle) -> Result<Option<JobResult>> {
        let id = handle.id();
        match self
            .options
            .services
            .job_result_store()
            .job_result_entry(id)
            .await
        {
            Ok(None) => Ok(None),
            Ok(Some(entry)) => {
                same_content(id, entry.job_digest.as_deref(), handle)?;
                Ok(Some(entry.result))
            }
            Err(error) if error.kind() == ErrorKind::Corrupt => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("job {id} has ended, and its result cannot be read: {error}"),
            )
            .not_applied()),
            Err(error) => Err(error),
        }
    }

    async fn put_graph(&self, store: &dyn JobGraphStore, handle: &JobHandle) -> Result<()> {
        let id = handle.id();
        let graph = JobGraph {
            job_id: id,
            name: handle.spec().name.clone(),
            payload: handle.spec().to_json(),
        };
        match store.put_job_graph(&graph).await {
            // Perhaps a submission whose reply was lost: then it is there, with this content.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                match store.recover_job_graph(id).await? {
                    Some(present) if present.payload == graph.payload => Ok(()),
                    _ => Err(other_content(id)),
                }
            }
            other => other,
        }
    }
}

fn same_content(id: JobId, recorded: Option<&str>, handle: &JobHandle) -> Result<()> {
    if recorded == Some(handle.digest().as_str()) {
        return Ok(());
    }
    Err(other_content(id))
}

fn other_content(id: JobId) -> Error {
    Error::new(
        ErrorKind::AlreadyExists,
        format!("job {id} exists with other content"),
    )
    .not_applied()
    .advise("submit under another id")
}
