use ha_core::ids::JobId;
use ha_core::jobs::JobResultStore as _;
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_embedded::lock_cluster_folder;
use ha_storage::{ClusterFiles, StateKind, delete_observed_file};
use ha_zookeeper::client::{CreateMode, Operation, ZkCode};
use ha_zookeeper::codec::Pointer;
use ha_zookeeper::fence::{Commit, Proof};
use ha_zookeeper::services::Maintenance;

use super::plan::Restoration;
use super::{Outcome, Step, View, Work, WritingCommand};
use crate::cluster::{Backend, Cluster};

/// The right to change the cluster: the leadership that no component has, or the lock of the folder.
pub(super) enum Grant {
    /// A leader of the tree; every write is fenced.
    Leader(Box<Maintenance>),
    /// The storage holds the lock.
    Lock,
}

/// What became of a step: an outcome a change, and why not all of them are applied.
pub(super) struct Done {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) error: Option<Error>,
}

impl Grant {
    /// Takes the right, and gives what a plan under it is made from.
    ///
    /// # Errors
    /// `NotLeader` when a process of the cluster is there (`Conflict` in the mode `filesystem`); nothing was changed.
    pub(super) async fn take(cluster: &Cluster, command: &WritingCommand) -> Result<(Self, View)> {
        match cluster.backend() {
            Backend::ZooKeeper { .. } => {
                let (configuration, environment) = (cluster.configuration(), cluster.environment());
                let maintenance = match command {
                    WritingCommand::Cleanup { ended_jobs: false } => {
                        Maintenance::begin_removal(configuration, command.name(), environment).await?
                    }
                    _ => Maintenance::begin(configuration, command.name(), environment).await?,
                };
                match View::granted(cluster, &maintenance) {
                    Ok(view) => Ok((Self::Leader(Box::new(maintenance)), view)),
                    Err(error) => {
                        maintenance.end().await?;
                        Err(error)
                    }
                }
            }
            Backend::Files => {
                let view = View::reading(cluster).await?;
                lock_cluster_folder(&view.storage, cluster.environment()).await?;
                if let Some(identity) = view.storage.read_identity().await? {
                    identity.expect_whole(None, view.storage.display("identity.json"))?;
                }
                Ok((Self::Lock, view.locked()))
            }
        }
    }

    /// Gives the right up.
    pub(super) async fn give_up(self) {
        if let Self::Leader(maintenance) = self
            && let Err(error) = maintenance.end().await
        {
            tracing::warn!(%error, "the latch of this command goes with its session");
        }
    }

    /// Does one step.
    pub(super) async fn execute(&mut self, view: &View, step: &Step) -> Done {
        let count = step.changes.len();
        let done = match &step.work {
            Work::DeleteZnodes => return self.delete_znodes(step).await,
            Work::Multi { operations, proof } => self.commit(operations.clone(), proof).await,
            Work::DeleteFile(file) => match self.prove().await {
                Ok(()) => delete_observed_file(&view.storage, &view.results, file).await,
                Err(error) => Err(error),
            },
            Work::RestoreCheckpoint(restoration) => self.restore(view, restoration).await,
            Work::RecordEnd(job_id) => self.record_end(*job_id).await.map(|()| true),
            Work::MarkClean(job_id) => match self {
                Self::Leader(maintenance) => maintenance.ends().mark_result_as_clean(*job_id).await,
                Self::Lock => view.results.mark_result_as_clean(*job_id).await,
            }
            .map(|()| true),
            Work::RemoveRest => self.remove_rest(view).await.map(|()| true),
        };
        match done {
            Ok(true) => Done::all(count, Outcome::Applied, None),
            // It was gone already.
            Ok(false) => Done::all(count, Outcome::NotApplied, None),
            Err(error) => Done::failed(count, error),
        }
    }

    /// To be asked right before a file is touched.
    async fn prove(&self) -> Result<()> {
        match self {
            Self::Leader(maintenance) => maintenance.prove().await,
            // The lock is held.
            Self::Lock => Ok(()),
        }
    }

    async fn record_end(&self, job_id: JobId) -> Result<()> {
        let leader = self.leader()?;
        leader.prove().await?;
        leader.ensure_recorded(job_id).await
    }

    async fn commit(&self, operations: Vec<Operation>, proof: &Proof) -> Result<bool> {
        match self.leader()?.commit(operations, proof).await? {
            Commit::Applied(_) => Ok(true),
            Commit::Refused(refusal) => Err(refusal
                .into_error("the znode changed since it was looked at")
                .advise("run the command again: it looks again")),
        }
    }

    fn leader(&self) -> Result<&Maintenance> {
        match self {
            Self::Leader(maintenance) => Ok(maintenance),
            Self::Lock => Err(
                Error::new(ErrorKind::Internal, "there are no znodes in the mode filesystem").not_applied(),
            ),
        }
    }

    /// Deletes znodes in one multi, as often as it takes to leave out those that are gone.
    async fn delete_znodes(&self, step: &Step) -> Done {
        let mut outcomes = vec![Outcome::Applied; step.changes.len()];
        loop {
            let left = step.changes.iter().zip(&outcomes);
            let paths: Vec<_> = left
                .filter(|(_, outcome)| **outcome == Outcome::Applied)
                .map(|(change, _)| change.path.clone())
                .collect();
            if paths.is_empty() {
                return Done {
                    outcomes,
                    error: None,
                };
            }
            let operations = paths.iter().map(|path| Operation::Delete {
                path: path.clone(),
                version: None,
            });
            let operations = operations.collect();
            let committed = match self.leader() {
                Ok(leader) => leader.commit(operations, &Proof::AllGone { paths }).await,
                Err(error) => Err(error),
            };
            match committed {
                Ok(Commit::Applied(_)) => {
                    return Done {
                        outcomes,
                        error: None,
                    };
                }
                Ok(Commit::Refused(refusal)) if refusal.code == ZkCode::NoNode => {
                    for (change, outcome) in step.changes.iter().zip(&mut outcomes) {
                        if change.path == refusal.path {
                            *outcome = Outcome::NotApplied;
                        }
                    }
                }
                Ok(Commit::Refused(refusal)) => {
                    let error = refusal.into_error("the znode has children that are not ours");
                    return Done::failed(step.changes.len(), error);
                }
                Err(error) => return Done::failed(step.changes.len(), error),
            }
        }
    }

    /// The file first, durable; then its pointer and the counter, in one multi.
    async fn restore(&self, view: &View, restoration: &Restoration) -> Result<bool> {
        let state = view.storage.get_state(&restoration.source).await?;
        self.prove().await?;
        let (kind, job_id) = (StateKind::Checkpoint, restoration.job_id);
        let file = view
            .storage
            .put_state(kind, job_id, &restoration.name, state.attributes, state.payload)
            .await?;
        let pointer = Pointer {
            file,
            write_id: view.environment.ids.uuid(),
            name: None,
            terminal: None,
        };
        let path = restoration.pointer.clone();
        let create = Operation::Create {
            path: path.clone(),
            data: pointer.encode(&path)?,
            mode: CreateMode::Persistent,
        };
        let proof = Proof::WriteId {
            path,
            write_id: pointer.write_id,
        };
        let operations = vec![create, restoration.counter.clone()];
        let published = self.commit(operations, &proof).await;
        if let Err(error) = &published
            && error.effect() == Effect::NotApplied
        {
            // No pointer names it: what is left of it is an orphan at most.
            if let Err(error) = view.storage.delete(&pointer.file.path).await {
                tracing::warn!(%error, "the file of the checkpoint that was not restored stays");
            }
        }
        published
    }

    async fn remove_rest(&mut self, view: &View) -> Result<()> {
        match self {
            Self::Leader(maintenance) => maintenance.remove_cluster().await,
            Self::Lock => {
                // The lock goes with the folder: what another process records after that is not in this list.
                let results = view.results.result_files().await?;
                view.storage.delete_identity().await?;
                let left = view.storage.delete_files(&ClusterFiles::default()).await?;
                let results = view.results.delete_files(results).await?;
                results.none_beside(left, view.storage.uri())
            }
        }
    }
}

impl Done {
    fn all(count: usize, outcome: Outcome, error: Option<Error>) -> Self {
        Self {
            outcomes: vec![outcome; count],
            error,
        }
    }

    fn failed(count: usize, error: Error) -> Self {
        let outcome = match error.effect() {
            Effect::NotApplied => Outcome::NotApplied,
            Effect::Unknown => Outcome::Unknown,
        };
        Self::all(count, outcome, Some(error))
    }
}
