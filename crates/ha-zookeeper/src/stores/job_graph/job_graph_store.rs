use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use ha_core::environment::{TaskScope, steps};
use ha_core::health::{BrokenEntry, Recovered};
use ha_core::ids::{JobId, LeaderSessionId};
use ha_core::jobs::{JobGraph, JobGraphListener, JobGraphStore};
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_storage::{StateFile, StateKind};
use tokio::task::Id;
use uuid::Uuid;

use super::change_watcher::{self, ChangeWatcher};
use super::holdings::Holdings;
use super::pointer_writer::{PointerWriter, Published, conflict, hold};
use crate::client::Stat;
use crate::codec::Pointer;
use crate::stores::pointers::PointerNode;
use crate::stores::state_files::{self, Deletions, NewState, PUT_ATTEMPTS};
use crate::stores::{StoreContext, pointers};

/// How many state files are read at the same time.
const CONCURRENT_READS: usize = 16;
/// How long `stop` waits for a callback of the listener.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// The attribute of a state file that holds the name of the job.
const NAME: &str = "name";

/// Job graphs: state files in the HA storage, pointers in `jobgraphs/`.
pub struct ZooKeeperJobGraphStore {
    context: StoreContext,
    life: Mutex<Life>,
    scope: TaskScope,
    /// The task that tells the listener, once it runs.
    watcher: Arc<OnceLock<Id>>,
    pointers: PointerWriter,
    deletions: Deletions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    New,
    Running,
    Stopped,
}

impl ZooKeeperJobGraphStore {
    /// A store of the cluster of `context`, not started yet.
    pub fn new(context: StoreContext) -> Self {
        let log = Arc::default();
        context.job_graph_changes.register(&log);
        Self {
            scope: context.environment.task_scope(),
            pointers: PointerWriter {
                writer: context.writer.clone(),
                changes: context.job_graph_changes.clone(),
                holdings: Holdings::default(),
                log,
            },
            context,
            life: Mutex::new(Life::New),
            watcher: Arc::default(),
            deletions: Deletions::default(),
        }
    }

    fn path(&self, job_id: JobId) -> String {
        self.context.writer.paths().job_graph(job_id)
    }

    fn check_running(&self) -> Result<()> {
        match *self.life.lock().unwrap_or_else(PoisonError::into_inner) {
            Life::Running => Ok(()),
            Life::New => {
                Err(Error::invalid("the job graph store was not started").advise("call start first"))
            }
            Life::Stopped => Err(Error::closed("the job graph store")),
        }
    }

    /// Moves on in life, if it stands at `from`.
    fn advance(&self, from: Life, to: Life) -> bool {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        let advanced = *life == from;
        if advanced {
            *life = to;
        }
        advanced
    }

    /// Waits until the listener is told nothing more. One that does not return, perhaps because it waits for a
    /// lock that the caller holds, is reported and waited for no longer.
    async fn wait_for_watcher(&self) {
        let environment = &self.context.environment;
        tokio::select! {
            biased;
            () = self.scope.shutdown() => {}
            () = environment.clock.sleep(STOP_TIMEOUT) => {
                let error = Error::new(
                    ErrorKind::Internal,
                    format!("the job graph listener has not returned from its callback {STOP_TIMEOUT:?} after stop"),
                );
                environment.fatal_error_handler.on_fatal_error(error);
            }
        }
    }

    /// Reads the file behind a pointer; `None` when it has gone, or the job has ended.
    async fn load(
        &self,
        job_id: JobId,
        path: &str,
        pointer: (Pointer, Stat),
        session: Option<LeaderSessionId>,
    ) -> Result<Option<JobGraph>> {
        if pointer.0.terminal.is_some() {
            return Ok(None);
        }
        let Some((pointer, stat, state)) = state_files::read(&self.context, path, job_id, pointer).await?
        else {
            return Ok(None);
        };
        if pointer.terminal.is_some() {
            return Ok(None);
        }
        self.context.health.clear_broken(path);
        self.pointers.holdings.hold(job_id, hold(&pointer, stat, session));
        Ok(Some(JobGraph {
            job_id,
            name: state.attributes.get(NAME).cloned().unwrap_or_default(),
            payload: state.payload,
        }))
    }

    fn broken(&self, name: &str, path: &str, error: &Error) -> BrokenEntry {
        let entry = BrokenEntry::from_error(name, path, error);
        self.context.report(&entry);
        entry
    }

    /// One node of a listing.
    async fn load_listed(
        &self,
        node: PointerNode,
        session: Option<LeaderSessionId>,
    ) -> std::result::Result<Option<JobGraph>, (BrokenEntry, ErrorKind)> {
        let Some(job_id) = JobId::from_name(&node.name) else {
            let entry = pointers::foreign(&node.name, &node.path, "job id");
            self.context.report(&entry);
            return Err((entry, ErrorKind::Corrupt));
        };
        let loaded = match node.pointer {
            Ok(pointer) => self.load(job_id, &node.path, (pointer, node.stat), session).await,
            Err(error) => Err(error),
        };
        loaded.map_err(|error| (self.broken(&node.name, &node.path, &error), error.kind()))
    }
}

#[async_trait]
impl JobGraphStore for ZooKeeperJobGraphStore {
    async fn start(&self, listener: Arc<dyn JobGraphListener>) -> Result<()> {
        if !self.advance(Life::New, Life::Running) {
            self.check_running()?;
            return Err(Error::invalid("the job graph store was started before"));
        }
        let mark = self.pointers.log.mark();
        match change_watcher::snapshot(&self.context).await {
            Ok(snapshot) => self.pointers.log.begin_with(&snapshot, mark),
            Err(error) => {
                self.advance(Life::Running, Life::New);
                return Err(error);
            }
        }
        let watcher = ChangeWatcher {
            context: self.context.clone(),
            log: Arc::clone(&self.pointers.log),
            listener,
            cancelled: self.scope.cancellation(),
            task: Arc::clone(&self.watcher),
        };
        self.scope.spawn("job-graph-watcher", watcher.run());
        Ok(())
    }

    async fn stop(&self) -> Result<()> {
        *self.life.lock().unwrap_or_else(PoisonError::into_inner) = Life::Stopped;
        if self
            .watcher
            .get()
            .is_some_and(|watcher| tokio::task::try_id() == Some(*watcher))
        {
            // Inside a callback: waiting for it would never end. None comes after it.
            self.scope.cancellation().cancel();
        } else {
            self.wait_for_watcher().await;
        }
        self.pointers.holdings.release_all();
        Ok(())
    }

    async fn put_job_graph(&self, job_graph: &JobGraph) -> Result<()> {
        self.check_running()?;
        let job_id = job_graph.job_id;
        let path = self.path(job_id);
        let term = self.context.writer.begin().await?;
        let state = NewState {
            kind: StateKind::JobGraph,
            owner: job_id,
            name: job_id.to_string(),
            attributes: BTreeMap::from([(NAME.to_owned(), job_graph.name.clone())]),
            payload: job_graph.payload.clone(),
        };
        let environment = &self.context.environment;
        let (file_step, pointer_step) = match self.pointers.holdings.get(job_id) {
            None => (steps::PUT_GRAPH_FILE, steps::PUT_GRAPH_POINTER),
            Some(_) => (steps::REPLACE_GRAPH_FILE, steps::REPLACE_GRAPH_POINTER),
        };
        let publishing = self.context.job_locks.lock(job_id, StateKind::JobGraph).await;
        for _ in 0..PUT_ATTEMPTS {
            let writing = state_files::put(&self.context, &state);
            let fresh = environment.step(file_step, writing).await?;
            let write_id = environment.ids.uuid();
            let pointer = pointer(fresh.file.clone(), write_id, &job_graph.name);
            let change = self.context.job_graph_changes.begin(job_id, Some(write_id));
            let is_young = || fresh.is_young(&self.context);
            let publish = self.pointers.publish(&term, job_id, &path, &pointer, is_young);
            match environment.step(pointer_step, publish).await {
                Ok(Published::Done { replaced }) => {
                    let session = term.fence().map(|fence| fence.session);
                    self.pointers
                        .holdings
                        .hold(job_id, hold(&pointer, Stat::default(), session));
                    change.applied();
                    drop(publishing);
                    self.context.health.clear_broken(&path);
                    let step = steps::REPLACE_GRAPH_OLD_FILE;
                    self.deletions.delete(&self.context, step, replaced).await;
                    return Ok(());
                }
                Ok(Published::TooOld) => {
                    change.not_applied();
                    state_files::discard(&self.context, &pointer.file.path).await;
                }
                Err(error) if error.effect() == Effect::NotApplied => {
                    change.not_applied();
                    drop(publishing);
                    state_files::discard(&self.context, &pointer.file.path).await;
                    return Err(error);
                }
                // The pointer may name the file: it stays.
                Err(error) => return Err(error),
            }
        }
        Err(state_files::too_slow().at(path))
    }

    async fn recover_job_graph(&self, job_id: JobId) -> Result<Option<JobGraph>> {
        self.check_running()?;
        let path = self.path(job_id);
        let session = self.context.writer.session();
        let client = self.context.writer.client().await?;
        let loaded = match pointers::read_one(&client, &path, StateKind::JobGraph).await {
            Ok(Some(pointer)) => self.load(job_id, &path, pointer, session).await,
            Ok(None) => {
                self.context.health.clear_broken(&path);
                Ok(None)
            }
            Err(error) => Err(error),
        };
        loaded.inspect_err(|error| {
            if error.kind() == ErrorKind::Corrupt {
                self.broken(&job_id.to_string(), &path, error);
            }
        })
    }

    async fn recover_job_graphs(&self) -> Result<Recovered<JobGraph>> {
        self.check_running()?;
        let session = self.context.writer.session();
        let client = self.context.writer.client().await?;
        let folder = self.context.writer.paths().job_graphs();
        let nodes = pointers::read_all(&client, &folder, StateKind::JobGraph).await?;
        pointers::forget_vanished(
            &self.context.health,
            &folder,
            nodes.iter().map(|node| &*node.path),
        );
        // Nodes and loads both come sorted by name, which is the order of job ids.
        let loads = nodes.into_iter().map(|node| self.load_listed(node, session));
        let loaded: Vec<_> = futures::stream::iter(loads)
            .buffered(CONCURRENT_READS)
            .collect()
            .await;
        let mut recovered = Recovered::default();
        let mut unavailable = None;
        for load in loaded {
            match load {
                Ok(graph) => recovered.entries.extend(graph),
                Err((entry, kind)) => {
                    if kind == ErrorKind::Unavailable {
                        unavailable.get_or_insert_with(|| entry.clone());
                    }
                    recovered.broken.push(entry);
                }
            }
        }
        match unavailable {
            // The storage is down: that is no fault of the entries, and "no jobs" would be wrong.
            Some(entry) if recovered.entries.is_empty() => {
                Err(Error::new(ErrorKind::Unavailable, entry.reason)
                    .at(entry.path)
                    .not_applied())
            }
            _ => Ok(recovered),
        }
    }

    async fn remove_job_graph(&self, job_id: JobId) -> Result<()> {
        self.check_running()?;
        let path = self.path(job_id);
        let term = self.context.writer.begin().await?;
        let removing = self.context.job_locks.lock(job_id, StateKind::JobGraph).await;
        let Some(holding) = self.pointers.holdings.get(job_id) else {
            let client = self.context.writer.client().await?;
            return match pointers::read_node(&client, &path).await? {
                None => Ok(()),
                Some(_) => Err(conflict(
                    &path,
                    "a job graph is there that this store neither put nor recovered",
                )
                .advise("recover it first")),
            };
        };
        let change = self.context.job_graph_changes.begin(job_id, None);
        let unpublish = self.pointers.unpublish(&term, job_id, &path, &holding);
        let environment = &self.context.environment;
        match environment.step(steps::REMOVE_GRAPH_POINTER, unpublish).await {
            Ok(()) => {
                change.applied();
                self.pointers.holdings.release(job_id);
                drop(removing);
                self.context.health.clear_broken(&path);
                let step = steps::REMOVE_GRAPH_FILE;
                self.deletions.delete(&self.context, step, [holding.file]).await;
                Ok(())
            }
            Err(error) => {
                if error.effect() == Effect::NotApplied {
                    change.not_applied();
                }
                Err(error)
            }
        }
    }

    async fn release_job_graph(&self, job_id: JobId) -> Result<()> {
        self.check_running()?;
        self.pointers.holdings.release(job_id);
        Ok(())
    }

    async fn job_ids(&self) -> Result<Vec<JobId>> {
        let client = self.context.writer.client().await?;
        let names = pointers::names(&client, &self.context.writer.paths().job_graphs()).await?;
        Ok(names.iter().filter_map(|name| JobId::from_name(name)).collect())
    }
}

fn pointer(file: StateFile, write_id: Uuid, name: &str) -> Pointer {
    Pointer {
        file,
        write_id,
        name: (!name.is_empty()).then(|| name.to_owned()),
        terminal: None,
    }
}
