use async_trait::async_trait;
use ha_core::checkpoints::CheckpointIdCounter;
use ha_core::environment::steps;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobStatus;
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_storage::StateKind;
use tokio::sync::Mutex;

use super::checkpoint_files;
use super::job_checkpoints::delete_counter;
use crate::client::{CreateMode, Operation, OperationResult};
use crate::codec::{decode_counter, encode_counter};
use crate::fence::{Commit, Proof, Term, TermBinding};
use crate::stores::{StoreContext, pointers};

/// How often an increment follows what others do, or replies that are lost.
const ATTEMPTS: usize = 10;

/// The counter of one job's checkpoint ids: the id to be given next, in decimal.
///
/// It never goes back behind what this instance gave, gave up or read, whatever stands in the znode.
pub struct ZooKeeperCheckpointIdCounter {
    context: StoreContext,
    job_id: JobId,
    path: String,
    binding: TermBinding,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    started: bool,
    closed: bool,
    /// The smallest id that may be given: above all that are known to have been given or given up.
    floor: Option<CheckpointId>,
    /// What is known to stand in the znode.
    stored: Stored,
}

#[derive(Clone, Copy, Default)]
enum Stored {
    /// Read it first.
    #[default]
    Unread,
    /// There is no znode.
    Missing,
    /// This value, at this version.
    Value { next: CheckpointId, version: i32 },
}

impl State {
    /// The id to be given next, by what is known.
    fn next(&self) -> CheckpointId {
        let floor = self.floor.unwrap_or(CheckpointId::FIRST);
        match self.stored {
            Stored::Value { next, .. } => next.max(floor),
            Stored::Missing | Stored::Unread => floor,
        }
    }

    fn raise(&mut self, floor: CheckpointId) {
        self.floor = self.floor.max(Some(floor));
    }
}

impl ZooKeeperCheckpointIdCounter {
    /// The counter of the job, not started yet.
    pub fn new(context: StoreContext, job_id: JobId) -> Self {
        let binding = TermBinding::default();
        context.writer.bind(&binding);
        Self {
            path: context.writer.paths().checkpoint_id_counter(job_id),
            context,
            job_id,
            binding,
            state: Mutex::default(),
        }
    }

    fn check_usable(&self, state: &State) -> Result<()> {
        if state.closed {
            return Err(Error::closed("the checkpoint id counter"));
        }
        if !state.started {
            return Err(Error::invalid("the checkpoint id counter was not started")
                .at(self.path.clone())
                .advise("call start first"));
        }
        Ok(())
    }

    /// Reads what stands in the znode.
    async fn read(&self, state: &mut State) -> Result<()> {
        let client = self.context.writer.client().await?;
        state.stored = match pointers::read_node(&client, &self.path).await? {
            None => Stored::Missing,
            Some((data, stat)) => Stored::Value {
                next: decode_counter(&self.path, &data).inspect_err(|error| {
                    let name = self.job_id.to_string();
                    self.context
                        .report(&BrokenEntry::from_error(name, self.path.clone(), error));
                })?,
                version: stat.version,
            },
        };
        if let Stored::Value { next, .. } = state.stored {
            // What is below was given, by whoever: also when the znode is gone the next time.
            state.raise(next);
        }
        self.context.health.clear_broken(&self.path);
        Ok(())
    }

    /// The smallest id above every checkpoint that a pointer or a file of the job is there for.
    async fn above_checkpoints(&self) -> Result<CheckpointId> {
        let client = self.context.writer.client().await?;
        let folder = self.context.writer.paths().checkpoints(self.job_id);
        let names = pointers::names(&client, &folder).await?;
        let files = self
            .context
            .storage
            .list_states(StateKind::Checkpoint, Some(self.job_id))
            .await?;
        let highest = names
            .iter()
            .filter_map(|name| CheckpointId::from_name(name))
            .chain(
                files
                    .iter()
                    .filter_map(|file| checkpoint_files::id_of_file(&file.path)),
            )
            .max();
        highest
            .map_or(Ok(CheckpointId::FIRST), CheckpointId::next)
            .map_err(|error| {
                error.at(folder).advise(
                    "a checkpoint of the largest id is there, as a pointer or as a file; if no process wrote it, remove it by hand",
                )
            })
    }

    /// Makes the znode hold `next`, if it is as it is known to be. `false`: it was not, and is to be read again.
    async fn write(&self, term: &Term, state: &mut State, next: CheckpointId, proof: Proof) -> Result<bool> {
        let (path, data) = (self.path.clone(), encode_counter(next));
        let operation = match state.stored {
            Stored::Value { version, .. } => Operation::Set {
                path,
                data,
                version: Some(version),
            },
            Stored::Missing => Operation::Create {
                path,
                data,
                mode: CreateMode::Persistent,
            },
            Stored::Unread => return Ok(false),
        };
        // Until the answer is there, nothing is known.
        let before = std::mem::take(&mut state.stored);
        match self.context.writer.commit(term, vec![operation], &proof).await? {
            Commit::Applied(results) => {
                state.stored = match (before, results.as_deref()) {
                    (_, Some([OperationResult::Set { stat }])) => Stored::Value {
                        next,
                        version: stat.version,
                    },
                    (Stored::Missing, Some(_)) => Stored::Value { next, version: 0 },
                    _ => Stored::Unread,
                };
                Ok(true)
            }
            Commit::Refused(_) => Ok(false),
        }
    }

    /// Makes the znode hold at least `at_least`.
    async fn lift(&self, term: &Term, state: &mut State, at_least: CheckpointId) -> Result<()> {
        for _ in 0..ATTEMPTS {
            if matches!(state.stored, Stored::Unread) {
                self.read(state).await?;
            }
            if matches!(state.stored, Stored::Value { next, .. } if next >= at_least) {
                return Ok(());
            }
            let proof = Proof::Content {
                path: self.path.clone(),
                data: encode_counter(at_least),
            };
            if self.write(term, state, at_least, proof).await? {
                return Ok(());
            }
        }
        Err(self.overtaken())
    }

    fn overtaken(&self) -> Error {
        Error::new(
            ErrorKind::Conflict,
            "others move the counter faster than it can be followed",
        )
        .at(self.path.clone())
        .not_applied()
    }
}

#[async_trait]
impl CheckpointIdCounter for ZooKeeperCheckpointIdCounter {
    async fn start(&self) -> Result<()> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Err(Error::closed("the checkpoint id counter"));
        }
        if state.started {
            return Ok(());
        }
        let term = self.context.writer.begin_in(&self.binding).await?;
        self.read(&mut state).await?;
        let above = self.above_checkpoints().await?;
        state.raise(above);
        self.lift(&term, &mut state, above).await?;
        state.started = true;
        Ok(())
    }

    async fn get_and_increment(&self) -> Result<CheckpointId> {
        let mut state = self.state.lock().await;
        self.check_usable(&state)?;
        let term = self.context.writer.begin_in(&self.binding).await?;
        let environment = &self.context.environment;
        for _ in 0..ATTEMPTS {
            if matches!(state.stored, Stored::Unread) {
                self.read(&mut state).await?;
            }
            let id = state.next();
            let after = id.next()?;
            let before = state.floor;
            // Also for a caller that drops the call: unless it is certain that nothing was written, this id is
            // not given again.
            state.raise(after);
            let writing = self.write(&term, &mut state, after, Proof::Nothing);
            match environment.step(steps::INCREMENT_COUNTER, writing).await {
                Ok(true) => return Ok(id),
                Ok(false) => state.floor = before,
                // The reply is lost. Equal values prove nothing: the id is given up.
                Err(error) if error.kind() == ErrorKind::Unavailable && error.effect() == Effect::Unknown => {
                    tracing::info!(path = self.path, %id, "a checkpoint id is given up: its reply was lost");
                }
                Err(error) => {
                    if error.effect() == Effect::NotApplied {
                        state.floor = before;
                    }
                    return Err(error);
                }
            }
        }
        Err(self.overtaken())
    }

    async fn get(&self) -> Result<CheckpointId> {
        let mut state = self.state.lock().await;
        self.check_usable(&state)?;
        self.read(&mut state).await?;
        Ok(state.next())
    }

    async fn set_count(&self, next: CheckpointId) -> Result<()> {
        let mut state = self.state.lock().await;
        self.check_usable(&state)?;
        let term = self.context.writer.begin_in(&self.binding).await?;
        self.lift(&term, &mut state, next).await
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        let mut state = self.state.lock().await;
        state.closed = true;
        if !status.is_globally_terminal() {
            return Ok(());
        }
        let term = self.context.writer.begin_in(&self.binding).await?;
        delete_counter(&self.context, &term, self.job_id).await
    }
}
