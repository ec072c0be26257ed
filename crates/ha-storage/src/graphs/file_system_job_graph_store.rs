use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use ha_core::environment::{TaskScope, steps};
use ha_core::error::{Effect, Error, ErrorKind, Result};
use ha_core::guarded;
use ha_core::health::{HealthMonitor, Recovered};
use ha_core::ids::JobId;
use ha_core::jobs::{JobGraph, JobGraphListener, JobGraphStore, JobResultStore};
use uuid::Uuid;

use super::changes::{Change, Known};
use super::graph_file;
use super::lifecycle::Lifecycle;
use crate::folder::{Creation, EntryKind, is_temporary};
use crate::reports::Reports;
use crate::shared::lock;
use crate::state::state_path;
use crate::storage::HaStorage;

/// Files that are read at the same time.
const READERS: usize = 16;

/// Job graphs as files `jobgraphs/<job-id>.job`, for the modes of one process. The file is state and pointer in
/// one. Several stores on one storage keep the contract together.
///
/// A job whose end is recorded in the job result store is never recovered, put or replaced; its graph may be
/// removed by every instance, so that a clean-up can be repeated after a restart.
pub struct FileSystemJobGraphStore {
    inner: Arc<Inner>,
    /// Of the task that looks for changes.
    scope: TaskScope,
    poll_interval: Duration,
    /// That task, once it runs.
    poll_task: Arc<Mutex<Option<tokio::task::Id>>>,
}

struct Inner {
    storage: Arc<HaStorage>,
    results: Arc<dyn JobResultStore>,
    reports: Reports,
    lifecycle: Lifecycle,
    /// The graphs that this instance may replace or remove, each with the writes of it that it knows: more than
    /// one as long as the outcome of its own last one is unknown.
    owned: Mutex<HashMap<JobId, Vec<Uuid>>>,
    known: tokio::sync::Mutex<Known>,
}

impl FileSystemJobGraphStore {
    /// How often the folder is looked at for other instances' changes, unless told otherwise.
    pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_secs(1);

    /// A store, not started yet.
    pub fn new(
        storage: Arc<HaStorage>,
        results: Arc<dyn JobResultStore>,
        poll_interval: Duration,
        health: HealthMonitor,
    ) -> Arc<Self> {
        Arc::new(Self {
            scope: storage.environment().task_scope(),
            inner: Arc::new(Inner {
                storage,
                results,
                reports: Reports::new(health),
                lifecycle: Lifecycle::new(),
                owned: Mutex::default(),
                known: tokio::sync::Mutex::default(),
            }),
            poll_interval,
            poll_task: Arc::default(),
        })
    }

    fn poll(&self, listener: Arc<dyn JobGraphListener>) {
        let inner = Arc::clone(&self.inner);
        let poll_task = Arc::clone(&self.poll_task);
        let clock = Arc::clone(&inner.storage.environment().clock);
        let cancelled = self.scope.cancellation();
        let interval = self.poll_interval;
        self.scope.spawn("ha-storage.job-graphs", async move {
            *lock(&poll_task) = tokio::task::try_id();
            loop {
                tokio::select! {
                    () = cancelled.cancelled() => return,
                    () = clock.sleep(interval) => {}
                }
                for change in inner.changes().await {
                    if cancelled.is_cancelled() {
                        return;
                    }
                    let told = match change {
                        Change::Added(job_id) => {
                            guarded("on_added_job_graph", listener.on_added_job_graph(job_id)).await
                        }
                        Change::Removed(job_id) => {
                            guarded("on_removed_job_graph", listener.on_removed_job_graph(job_id)).await
                        }
                    };
                    if let Err(error) = told {
                        tracing::error!(%error, "a listener failed; the next change is reported nevertheless");
                    }
                }
            }
        });
    }
}

impl Inner {
    /// What others changed since the last look; nothing when it cannot be told.
    async fn changes(&self) -> Vec<Change> {
        let place = self.storage.display(state_path::job_graph_folder().as_str());
        let changes = self.known.lock().await.refresh(&self.storage).await;
        let health = self.reports.health();
        match changes {
            Ok(changes) => {
                health.set_condition(&place, None);
                changes
            }
            Err(error) => {
                health.set_condition(&place, Some(error.message().to_owned()));
                Vec::new()
            }
        }
    }

    fn place(&self, job_id: JobId) -> String {
        self.storage.display(state_path::job_graph_file(job_id).as_str())
    }

    fn conflict(&self, job_id: JobId, reason: &'static str) -> Error {
        Error::new(ErrorKind::Conflict, reason)
            .at(self.place(job_id))
            .not_applied()
    }

    /// Fails unless the graph that is there is the one that this instance put or recovered.
    async fn check_unchanged(&self, job_id: JobId, writes: &[Uuid]) -> Result<()> {
        match graph_file::read(&self.storage, job_id).await? {
            Some(found) if writes.contains(&found.write_id) => Ok(()),
            Some(_) => Err(self.conflict(job_id, "another instance replaced the job graph")),
            None => Err(self.conflict(job_id, "another instance removed the job graph")),
        }
    }

    async fn put(&self, graph: &JobGraph) -> Result<()> {
        let job_id = graph.job_id;
        let _held = self.storage.shared().lock(&lock_name(job_id)).await;
        let mut known = self.known.lock().await;
        if self.results.has_job_result_entry(job_id).await? {
            return Err(self
                .conflict(
                    job_id,
                    "the end of the job is recorded, it cannot be stored again",
                )
                .advise("submit it under another job id"));
        }
        let environment = self.storage.environment();
        let write_id = environment.ids.uuid();
        let own = lock(&self.owned).get(&job_id).cloned();
        if let Some(own) = own {
            self.check_unchanged(job_id, &own).await?;
            let replacing = graph_file::replace(&self.storage, graph, write_id);
            if let Err(error) = environment.step(steps::REPLACE_GRAPH_FILE, replacing).await {
                if error.effect() == Effect::Unknown {
                    // Either may be there: what is read next is this instance's in both cases.
                    lock(&self.owned).entry(job_id).or_default().push(write_id);
                }
                return Err(error);
            }
        } else if environment
            .step(
                steps::PUT_GRAPH_FILE,
                graph_file::create(&self.storage, graph, write_id),
            )
            .await?
            == Creation::Exists
        {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                "a job graph is there that this instance neither put nor recovered",
            )
            .at(self.place(job_id))
            .advise("recover it first, or use another job id")
            .not_applied());
        }
        lock(&self.owned).insert(job_id, vec![write_id]);
        known.note(&self.storage, job_id).await;
        Ok(())
    }

    async fn remove(&self, job_id: JobId) -> Result<()> {
        let _held = self.storage.shared().lock(&lock_name(job_id)).await;
        let mut known = self.known.lock().await;
        let path = state_path::job_graph_file(job_id);
        let is_there = match self.storage.folder().stat(&path).await {
            Ok(info) => info.is_some(),
            Err(error) => return Err(error),
        };
        if is_there && !self.results.has_job_result_entry(job_id).await? {
            let own = lock(&self.owned).get(&job_id).cloned();
            let own = own.ok_or_else(|| {
                self.conflict(
                    job_id,
                    "a job graph is there that this instance neither put nor recovered",
                )
            })?;
            self.check_unchanged(job_id, &own).await?;
        }
        let deleting = self.storage.folder().delete(&path);
        let environment = self.storage.environment();
        environment.step(steps::REMOVE_GRAPH_FILE, deleting).await?;
        self.reports.well(&self.place(job_id));
        lock(&self.owned).remove(&job_id);
        known.note(&self.storage, job_id).await;
        Ok(())
    }

    /// Reads a graph of a job that has not ended, and gains the right to change it. A broken one is reported.
    async fn recover(&self, job_id: JobId) -> Result<Option<JobGraph>> {
        let place = self.place(job_id);
        match graph_file::read(&self.storage, job_id).await {
            Ok(found) => {
                self.reports.well(&place);
                Ok(found.map(|found| {
                    lock(&self.owned).insert(job_id, vec![found.write_id]);
                    found.graph
                }))
            }
            Err(error) => {
                self.reports.broken(job_id.to_string(), &place, &error);
                Err(error)
            }
        }
    }
}

fn lock_name(job_id: JobId) -> String {
    format!("jobgraph/{job_id}")
}

#[async_trait]
impl JobGraphStore for FileSystemJobGraphStore {
    async fn start(&self, listener: Arc<dyn JobGraphListener>) -> Result<()> {
        let starting = self.inner.lifecycle.start()?;
        // What is there at the start is recovered, not reported.
        self.inner.known.lock().await.refresh(&self.inner.storage).await?;
        self.poll(listener);
        starting.done();
        Ok(())
    }

    async fn stop(&self) -> Result<()> {
        self.inner.lifecycle.stop();
        lock(&self.inner.owned).clear();
        let is_in_callback = {
            let poll_task = *lock(&self.poll_task);
            poll_task.is_some() && poll_task == tokio::task::try_id()
        };
        if is_in_callback {
            // Waiting for the callback that called this would never end; none comes after it.
            self.scope.cancellation().cancel();
        } else {
            self.scope.shutdown().await;
        }
        Ok(())
    }

    async fn put_job_graph(&self, job_graph: &JobGraph) -> Result<()> {
        self.inner.lifecycle.check()?;
        let inner = Arc::clone(&self.inner);
        let graph = job_graph.clone();
        self.inner
            .storage
            .to_the_end("ha-storage.put-job-graph", async move { inner.put(&graph).await })
            .await
    }

    async fn recover_job_graph(&self, job_id: JobId) -> Result<Option<JobGraph>> {
        self.inner.lifecycle.check()?;
        if self.inner.results.has_job_result_entry(job_id).await? {
            return Ok(None);
        }
        self.inner.recover(job_id).await
    }

    async fn recover_job_graphs(&self) -> Result<Recovered<JobGraph>> {
        self.inner.lifecycle.check()?;
        let inner = &self.inner;
        let folder = state_path::job_graph_folder();
        let place = inner.storage.display(folder.as_str());
        let mut recovered = Recovered::default();
        let mut jobs = Vec::new();
        let mut present = BTreeSet::new();
        for entry in inner.storage.folder().list(&folder).await?.unwrap_or_default() {
            let path = format!("{place}/{}", entry.name);
            match state_path::job_of_graph_file(&entry.name) {
                // A folder or a link under a graph's name is read too, and found broken.
                Some(job_id) => jobs.push(job_id),
                None if entry.kind == EntryKind::File && is_temporary(&entry.name) => {}
                None => {
                    let error =
                        Error::new(ErrorKind::Corrupt, "foreign: the name is not that of a job graph");
                    recovered
                        .broken
                        .push(inner.reports.broken(entry.name, &path, &error));
                }
            }
            present.insert(path);
        }
        inner.reports.keep_present(&place, &present);
        let mut read: Vec<_> = futures::stream::iter(jobs)
            .map(|job_id| async move {
                match inner.results.has_job_result_entry(job_id).await {
                    Ok(true) => (job_id, Ok(Ok(None))),
                    Ok(false) => (job_id, Ok(inner.recover(job_id).await)),
                    // Nothing may run whose end may be recorded.
                    Err(error) => (job_id, Err(error)),
                }
            })
            .buffer_unordered(READERS)
            .collect()
            .await;
        read.sort_by_key(|(job_id, _)| *job_id);
        for (job_id, outcome) in read {
            match outcome? {
                Ok(graph) => recovered.entries.extend(graph),
                Err(error) => {
                    let entry = inner
                        .reports
                        .broken(job_id.to_string(), &inner.place(job_id), &error);
                    recovered.broken.push(entry);
                }
            }
        }
        Ok(recovered)
    }

    async fn remove_job_graph(&self, job_id: JobId) -> Result<()> {
        self.inner.lifecycle.check()?;
        let inner = Arc::clone(&self.inner);
        self.inner
            .storage
            .to_the_end("ha-storage.remove-job-graph", async move {
                inner.remove(job_id).await
            })
            .await
    }

    async fn release_job_graph(&self, job_id: JobId) -> Result<()> {
        self.inner.lifecycle.check()?;
        lock(&self.inner.owned).remove(&job_id);
        Ok(())
    }

    async fn job_ids(&self) -> Result<Vec<JobId>> {
        let folder = state_path::job_graph_folder();
        let entries = self
            .inner
            .storage
            .folder()
            .list(&folder)
            .await?
            .unwrap_or_default();
        Ok(entries
            .iter()
            .filter_map(|entry| state_path::job_of_graph_file(&entry.name))
            .collect())
    }
}
