use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ha_services::checkpoints::{CheckpointIdCounter, CompletedCheckpoint, CompletedCheckpointStore};
use ha_services::ids::{CheckpointId, JobId};
use ha_services::{Error, ErrorKind, HighAvailabilityServices, LeaderElectionService};
use tokio::task::JoinSet;

use super::{Contender, Outcomes};
use crate::waiting::pause;

/// How many writers a load has. Each has one job of its own, the same in every process.
const WRITERS: u8 = 4;
/// How long a writer waits before it tries again.
const RETRY_WAIT: Duration = Duration::from_millis(20);
/// How many checkpoints of a job are retained: the next one deletes the last.
const RETAINED: usize = 1;

/// Fenced writes of a process, as fast as it can, whenever the library says that it leads. They go on until the
/// library refuses them: nothing asks whether the process still leads.
#[derive(Debug)]
pub struct Load {
    ended: Arc<AtomicBool>,
    writers: JoinSet<Outcomes>,
}

impl Load {
    /// The job that the writer of this number writes for; the last one writes checkpoints, the others count.
    pub fn job(writer: u8) -> JobId {
        JobId::from_bytes([writer + 1; 16])
    }

    /// The job of which checkpoints are written.
    pub fn checkpointed_job() -> JobId {
        Self::job(WRITERS - 1)
    }

    /// Begins.
    ///
    /// # Errors
    /// The process contends for nothing.
    pub fn start(contender: &Contender) -> anyhow::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let writer = Writer {
                job: Self::job(writer),
                checkpoints: Self::job(writer) == Self::checkpointed_job(),
                services: Arc::clone(contender.services()),
                election: Arc::clone(contender.election()?),
                ended: Arc::clone(&ended),
            };
            writers.spawn(writer.run());
        }
        Ok(Self { ended, writers })
    }

    /// Ends it: what was begun is waited for.
    pub async fn end(mut self) -> Outcomes {
        self.ended.store(true, Ordering::Relaxed);
        let mut all = Outcomes::default();
        while let Some(outcomes) = self.writers.join_next().await {
            all.add(outcomes.unwrap_or_default());
        }
        all
    }
}

struct Writer {
    job: JobId,
    checkpoints: bool,
    services: Arc<dyn HighAvailabilityServices>,
    election: Arc<dyn LeaderElectionService>,
    ended: Arc<AtomicBool>,
}

impl Writer {
    async fn run(self) -> Outcomes {
        let mut outcomes = Outcomes::default();
        let terms = self.election.subscribe();
        while !self.ended.load(Ordering::Relaxed) {
            let leads = terms.borrow().is_some();
            if leads {
                self.write_in_one_term(&mut outcomes).await;
            }
            pause(RETRY_WAIT).await;
        }
        outcomes
    }

    async fn write_in_one_term(&self, outcomes: &mut Outcomes) {
        let stores = match JobStores::open(&*self.services, self.job).await {
            Ok(stores) => stores,
            Err(error) => return outcomes.note::<()>(&Err(error)),
        };
        while !self.ended.load(Ordering::Relaxed) {
            let outcome = match self.checkpoints {
                true => stores.checkpoint().await,
                false => stores.next_id().await,
            };
            outcomes.note(&outcome);
            match outcome {
                Err(error) if error.kind() == ErrorKind::NotLeader => return,
                Err(_) => pause(RETRY_WAIT).await,
                Ok(_) => {}
            }
        }
    }
}

/// What is written for one job in one term.
pub(super) struct JobStores {
    job: JobId,
    counter: Arc<dyn CheckpointIdCounter>,
    checkpoints: Arc<dyn CompletedCheckpointStore>,
}

impl JobStores {
    pub(super) async fn open(services: &dyn HighAvailabilityServices, job: JobId) -> Result<Self, Error> {
        let factory = services.checkpoint_recovery_factory();
        let counter = factory.create_checkpoint_id_counter(job).await?;
        counter.start().await?;
        let checkpoints = factory
            .create_recovered_completed_checkpoint_store(job, RETAINED)
            .await?;
        Ok(Self {
            job,
            counter,
            checkpoints,
        })
    }

    /// The next checkpoint id: one fenced write.
    pub(super) async fn next_id(&self) -> Result<CheckpointId, Error> {
        self.counter.get_and_increment().await
    }

    /// Adds the checkpoint of this id: a file and one fenced write, with which the checkpoint before goes.
    pub(super) async fn add(&self, checkpoint_id: CheckpointId) -> Result<CheckpointId, Error> {
        let checkpoint = CompletedCheckpoint {
            job_id: self.job,
            checkpoint_id,
            timestamp: 0,
            payload: Bytes::from(checkpoint_id.to_string()),
        };
        self.checkpoints.add_and_subsume(checkpoint).await?;
        Ok(checkpoint_id)
    }

    /// Adds a checkpoint of the next id.
    pub(super) async fn checkpoint(&self) -> Result<CheckpointId, Error> {
        self.add(self.next_id().await?).await
    }
}
