use std::collections::HashSet;
use std::sync::{Mutex as StdMutex, PoisonError};

use async_trait::async_trait;
use futures::StreamExt as _;
use ha_core::checkpoints::{CompletedCheckpoint, CompletedCheckpointStore};
use ha_core::environment::steps;
use ha_core::ids::JobId;
use ha_core::jobs::JobStatus;
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_storage::StateKind;
use tokio::sync::Mutex;

use super::checkpoint_files;
use super::job_checkpoints::{MAX_DELETIONS, delete_checkpoints};
use super::retained::{self, Retained};
use crate::client::{CreateMode, Operation, Stat, ZkCode};
use crate::codec::Pointer;
use crate::fence::{Commit, Proof, Term, TermBinding};
use crate::stores::state_files::{self, Deletions, Fresh, PUT_ATTEMPTS};
use crate::stores::{StoreContext, pointers};

/// How many state files are read at the same time.
const CONCURRENT_READS: usize = 8;
/// How often checkpoints that others change at the same time are listed again.
const READ_ATTEMPTS: usize = 10;

/// The completed checkpoints of one job: state files in the HA storage, pointers in `jobs/<job-id>/checkpoints`.
///
/// A store belongs to the term in which it was made (or first used while leading): in a later one it is refused,
/// because what it knows is old.
pub struct ZooKeeperCompletedCheckpointStore {
    context: StoreContext,
    job_id: JobId,
    max_retained: usize,
    binding: TermBinding,
    deletions: Deletions,
    state: Mutex<State>,
    /// The number of retained ones, to be answered while an add is on its way.
    count: StdMutex<usize>,
}

struct State {
    /// Oldest first.
    retained: Vec<Retained>,
    /// An outcome was not known: read the pointers again before anything is decided.
    stale: bool,
    /// They were read in the term that the store is tied to, in which nobody else writes. What was read before
    /// it is as good as nothing.
    read_in_term: bool,
    closed: bool,
}

impl ZooKeeperCompletedCheckpointStore {
    /// The store of the job, recovered: the pointers are read, and the content of the newest one.
    ///
    /// # Errors
    /// `Invalid` when `max_retained` is 0; `Corrupt` when the newest one is unreadable, which is reported with the
    /// older candidates; `Unavailable`.
    pub async fn recover(context: StoreContext, job_id: JobId, max_retained: usize) -> Result<Self> {
        if max_retained == 0 {
            return Err(Error::invalid("at least one checkpoint must be retained")
                .at("state.checkpoints.num-retained"));
        }
        let binding = TermBinding::default();
        let read_in_term = context.writer.bind(&binding);
        let retained = read(&context, job_id).await?;
        Ok(Self {
            count: StdMutex::new(retained.len()),
            context,
            job_id,
            max_retained,
            binding,
            deletions: Deletions::default(),
            state: Mutex::new(State {
                retained,
                stale: false,
                read_in_term,
                closed: false,
            }),
        })
    }

    async fn refresh(&self, state: &mut State) -> Result<()> {
        let is_bound = self.context.writer.bind(&self.binding);
        if state.stale || (is_bound && !state.read_in_term) {
            let retained = read(&self.context, self.job_id).await?;
            self.set_count(retained.len());
            state.retained = retained;
            state.stale = false;
            state.read_in_term = is_bound;
        }
        Ok(())
    }

    /// Publishes the pointer and takes out the smallest ids beyond the number to retain, in one multi. Gives the
    /// znodes that are gone; `None`: `fresh`, the file of `pointer`, grew too old before it was published.
    async fn publish(
        &self,
        term: &Term,
        state: &State,
        path: &str,
        pointer: &Pointer,
        fresh: &Fresh,
    ) -> Result<Option<HashSet<String>>> {
        let beyond = (state.retained.len() + 1).saturating_sub(self.max_retained);
        let subsumed = state.retained.iter().take(beyond.min(MAX_DELETIONS));
        let mut deletes: Vec<_> = subsumed.map(|old| old.path.clone()).collect();
        let mut gone = HashSet::new();
        let create = Operation::Create {
            path: path.to_owned(),
            data: pointer.encode(path)?,
            mode: CreateMode::Persistent,
        };
        let proof = Proof::WriteId {
            path: path.to_owned(),
            write_id: pointer.write_id,
        };
        loop {
            let operations = std::iter::once(create.clone())
                .chain(deletes.iter().map(|path| Operation::Delete {
                    path: path.clone(),
                    version: None,
                }))
                .collect();
            let committed = self
                .context
                .writer
                .commit_while(term, operations, &proof, || fresh.is_young(&self.context))
                .await?;
            let Some(commit) = committed else {
                return Ok(None);
            };
            match commit {
                Commit::Applied(_) => {
                    gone.extend(deletes);
                    return Ok(Some(gone));
                }
                // Somebody else deleted an old one.
                Commit::Refused(refusal) if refusal.code == ZkCode::NoNode && refusal.index > 0 => {
                    deletes.retain(|path| *path != refusal.path);
                    gone.insert(refusal.path);
                }
                // One with children that are not ours does not fail the new one.
                Commit::Refused(refusal) if refusal.index > 0 => {
                    tracing::warn!(
                        path = refusal.path,
                        "an old checkpoint's znode cannot be deleted; left"
                    );
                    deletes.retain(|path| *path != refusal.path);
                }
                Commit::Refused(refusal) => {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        "a checkpoint of this id was published by somebody else",
                    )
                    .at(refusal.path)
                    .not_applied()
                    .advise("make a new store; it recovers what is there"));
                }
            }
        }
    }

    async fn add(&self, state: &mut State, checkpoint: CompletedCheckpoint) -> Result<Vec<String>> {
        let id = checkpoint.checkpoint_id;
        let term = self.context.writer.begin_in(&self.binding).await?;
        self.refresh(state).await?;
        if let Some(newest) = state.retained.last()
            && id <= newest.id
        {
            return Err(Error::invalid(format!(
                "the checkpoint id {id} is not above the newest, {}",
                newest.id
            ))
            .at(newest.path.clone()));
        }
        let path = self.context.writer.paths().checkpoint(self.job_id, id);
        let _publishing = self
            .context
            .job_locks
            .lock(self.job_id, StateKind::Checkpoint)
            .await;
        let environment = &self.context.environment;
        let new = checkpoint_files::to_state(&checkpoint);
        for _ in 0..PUT_ATTEMPTS {
            let writing = state_files::put(&self.context, &new);
            let fresh = environment.step(steps::ADD_CHECKPOINT_FILE, writing).await?;
            let pointer = Pointer {
                file: fresh.file.clone(),
                write_id: environment.ids.uuid(),
                name: None,
                terminal: None,
            };
            // A call that is dropped from here on leaves its outcome unknown.
            state.stale = true;
            let publish = self.publish(&term, state, &path, &pointer, &fresh);
            match environment.step(steps::ADD_CHECKPOINT_POINTER, publish).await {
                Ok(Some(gone)) => {
                    let added = Retained {
                        id,
                        path,
                        pointer: Ok((pointer, Stat::default())),
                        checkpoint: Some(checkpoint),
                    };
                    return Ok(self.retain(state, added, &gone));
                }
                Ok(None) => {
                    state.stale = false;
                    state_files::discard(&self.context, &pointer.file.path).await;
                }
                Err(error) if error.effect() == Effect::NotApplied => {
                    state.stale = error.kind() == ErrorKind::Conflict;
                    state_files::discard(&self.context, &pointer.file.path).await;
                    return Err(error);
                }
                // The pointer may name the file: it stays.
                Err(error) => return Err(error),
            }
        }
        Err(state_files::too_slow().at(path))
    }

    /// Notes that `added` was published, and that the znodes `gone` are no more; gives the files of those.
    fn retain(&self, state: &mut State, added: Retained, gone: &HashSet<String>) -> Vec<String> {
        let (old, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut state.retained)
            .into_iter()
            .partition(|retained| gone.contains(&retained.path));
        state.retained = kept;
        for old in &old {
            self.context.health.clear_broken(&old.path);
        }
        if let Some(previous) = state.retained.last_mut() {
            previous.checkpoint = None;
        }
        state.retained.push(added);
        state.stale = false;
        self.set_count(state.retained.len());
        old.iter().filter_map(Retained::file).collect()
    }

    fn set_count(&self, count: usize) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) = count;
    }

    /// The content of one; unreadable ones are reported.
    async fn load(&self, index: usize, retained: &[Retained]) -> Result<Option<CompletedCheckpoint>> {
        let Some(wanted) = retained.get(index) else {
            return Ok(None);
        };
        wanted
            .load(&self.context, self.job_id)
            .await
            .inspect_err(|error| {
                if error.kind() == ErrorKind::Corrupt {
                    let older = retained.get(..index).unwrap_or_default();
                    retained::report(&self.context, wanted, older, error);
                }
            })
    }
}

/// The pointers of the job, oldest first, with the content of the newest one. Where one goes while they are read,
/// a newer one may have come that the listing does not have: they are listed again.
async fn read(context: &StoreContext, job_id: JobId) -> Result<Vec<Retained>> {
    let folder = context.writer.paths().checkpoints(job_id);
    for _ in 0..READ_ATTEMPTS {
        let reads = &context.checkpoint_reads;
        let Some(nodes) = reads.read_whole(&context.writer, &folder).await? else {
            continue;
        };
        pointers::forget_vanished(&context.health, &folder, nodes.iter().map(|node| &*node.path));
        let mut retained = retained::from_nodes(context, job_id, nodes);
        for (index, one) in retained.iter().enumerate() {
            match &one.pointer {
                Err(error) => {
                    retained::report(context, one, retained.get(..index).unwrap_or_default(), error);
                }
                Ok(_) => context.health.clear_broken(&one.path),
            }
        }
        if load_newest(context, job_id, &mut retained).await? {
            return Ok(retained);
        }
    }
    Err(Error::new(
        ErrorKind::Unavailable,
        "the checkpoints change faster than they can be read",
    )
    .at(folder)
    .not_applied())
}

/// Reads the content of the newest one, if there is any. `false`: it has gone meanwhile.
async fn load_newest(context: &StoreContext, job_id: JobId, retained: &mut [Retained]) -> Result<bool> {
    let Some((newest, older)) = retained.split_last_mut() else {
        return Ok(true);
    };
    match newest.load(context, job_id).await {
        Ok(checkpoint) => {
            newest.checkpoint = checkpoint;
            Ok(newest.checkpoint.is_some())
        }
        Err(error) => {
            if error.kind() == ErrorKind::Corrupt {
                retained::report(context, newest, older, &error);
            }
            Err(error.advise(
                "put the file back from a copy; an older checkpoint is never used by itself: to go back to one, delete the znode of the newest by hand while no process runs (see `hactl checkpoints`)",
            ))
        }
    }
}

#[async_trait]
impl CompletedCheckpointStore for ZooKeeperCompletedCheckpointStore {
    async fn add_and_subsume(&self, checkpoint: CompletedCheckpoint) -> Result<()> {
        if checkpoint.job_id != self.job_id {
            return Err(Error::invalid(format!(
                "the checkpoint belongs to the job {}, the store to {}",
                checkpoint.job_id, self.job_id
            )));
        }
        let mut state = self.state.lock().await;
        if state.closed {
            return Err(Error::closed("the completed checkpoint store"));
        }
        let files = self.add(&mut state, checkpoint).await?;
        // The lock is kept: the next add does not overtake this deletion.
        let step = steps::SUBSUME_CHECKPOINT_FILE;
        self.deletions.delete(&self.context, step, files).await;
        Ok(())
    }

    async fn latest(&self) -> Result<Option<CompletedCheckpoint>> {
        let mut state = self.state.lock().await;
        self.refresh(&mut state).await?;
        // The content of the newest one is always at hand.
        Ok(state.retained.last().and_then(|newest| newest.checkpoint.clone()))
    }

    async fn all(&self) -> Result<Vec<CompletedCheckpoint>> {
        let retained = {
            let mut state = self.state.lock().await;
            self.refresh(&mut state).await?;
            state.retained.clone()
        };
        let retained = &retained;
        let loads = (0..retained.len()).map(|index| self.load(index, retained));
        let loaded: Vec<_> = futures::stream::iter(loads)
            .buffered(CONCURRENT_READS)
            .collect()
            .await;
        // The newest is at hand, so what is broken here is older: it was reported, and hides no other.
        let mut all = Vec::with_capacity(loaded.len());
        for loaded in loaded {
            match loaded {
                Ok(checkpoint) => all.extend(checkpoint),
                Err(error) if error.kind() == ErrorKind::Corrupt => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    async fn num_retained(&self) -> usize {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn max_retained(&self) -> usize {
        self.max_retained
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        let mut state = self.state.lock().await;
        state.closed = true;
        if !status.is_globally_terminal() {
            return Ok(());
        }
        let term = self.context.writer.begin_in(&self.binding).await?;
        state.stale = true;
        delete_checkpoints(&self.context, &term, self.job_id).await?;
        state.retained.clear();
        state.stale = false;
        self.set_count(0);
        Ok(())
    }
}
