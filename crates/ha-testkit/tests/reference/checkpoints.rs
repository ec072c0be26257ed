use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::checkpoints::{
    CheckpointIdCounter, CheckpointRecoveryFactory, CompletedCheckpoint, CompletedCheckpointStore,
};
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobStatus;
use ha_core::{ErrorKind, Result};

use super::Fault;
use super::disk::{corrupt, refused};
use super::process::Process;

pub(super) struct Factory {
    pub(super) process: Arc<Process>,
}

#[async_trait]
impl CheckpointRecoveryFactory for Factory {
    async fn create_recovered_completed_checkpoint_store(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Result<Arc<dyn CompletedCheckpointStore>> {
        if max_retained == 0 {
            return Err(refused(ErrorKind::Invalid, "at least one is retained"));
        }
        let store = Store {
            process: Arc::clone(&self.process),
            job: job_id,
            max_retained,
            closed: AtomicBool::new(false),
        };
        store.latest().await?;
        Ok(Arc::new(store))
    }

    async fn create_checkpoint_id_counter(&self, job_id: JobId) -> Result<Arc<dyn CheckpointIdCounter>> {
        Ok(Arc::new(Counter {
            process: Arc::clone(&self.process),
            job: job_id,
            in_memory: Mutex::new(None),
            started: AtomicBool::new(false),
        }))
    }
}

struct Store {
    process: Arc<Process>,
    job: JobId,
    max_retained: usize,
    closed: AtomicBool,
}

impl Store {
    /// Oldest first.
    fn ids(&self) -> Vec<CheckpointId> {
        let content = self.process.disk.lock();
        let keys = content.checkpoints.keys();
        let mut ids: Vec<_> = keys
            .filter(|(job, _)| *job == self.job)
            .map(|(_, id)| *id)
            .collect();
        if self.process.fault == Fault::OrderOfDigits {
            ids.sort_by_key(ToString::to_string);
        }
        ids
    }

    fn read(&self, id: CheckpointId) -> Result<CompletedCheckpoint> {
        let content = self.process.disk.lock();
        let stored = content.checkpoints.get(&(self.job, id));
        stored
            .cloned()
            .flatten()
            .ok_or_else(|| corrupt("checkpoints", self.job))
    }
}

#[async_trait]
impl CompletedCheckpointStore for Store {
    async fn add_and_subsume(&self, checkpoint: CompletedCheckpoint) -> Result<()> {
        self.process.check_write()?;
        if self.closed.load(Ordering::SeqCst) {
            return Err(refused(ErrorKind::Closed, "shut down"));
        }
        let id = checkpoint.checkpoint_id;
        if checkpoint.job_id != self.job {
            return Err(refused(ErrorKind::Invalid, "another job's"));
        }
        let newest = self.ids().last().copied();
        if newest.is_some_and(|newest| id <= newest) && self.process.fault != Fault::OldCheckpointAccepted {
            return Err(refused(ErrorKind::Invalid, "not above the newest"));
        }
        let key = (self.job, id);
        self.process.disk.lock().checkpoints.insert(key, Some(checkpoint));
        let mut ids = self.ids();
        if self.process.fault == Fault::RetentionForgotten {
            ids.clear();
        }
        if self.process.fault == Fault::NewestSubsumed && ids.len() > self.max_retained {
            ids.rotate_right(1);
        }
        while ids.len() > self.max_retained {
            let subsumed = (self.job, ids.remove(0));
            self.process.disk.lock().checkpoints.remove(&subsumed);
        }
        Ok(())
    }

    async fn latest(&self) -> Result<Option<CompletedCheckpoint>> {
        if self.process.fault == Fault::VanishedIsNone {
            let newest = self.ids().last().copied();
            tokio::task::yield_now().await;
            let content = self.process.disk.lock();
            return Ok(newest.and_then(|id| content.checkpoints.get(&(self.job, id)).cloned().flatten()));
        }
        let ids = self.ids();
        if self.process.fault == Fault::OlderUsedSilently {
            return Ok(ids.into_iter().rev().find_map(|id| self.read(id).ok()));
        }
        ids.last().map(|id| self.read(*id)).transpose()
    }

    async fn all(&self) -> Result<Vec<CompletedCheckpoint>> {
        self.latest().await?;
        Ok(self
            .ids()
            .into_iter()
            .filter_map(|id| self.read(id).ok())
            .collect())
    }

    async fn num_retained(&self) -> usize {
        self.ids().len()
    }

    fn max_retained(&self) -> usize {
        self.max_retained
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        self.closed.store(true, Ordering::SeqCst);
        let deletes = status.is_globally_terminal()
            || (status == JobStatus::Suspended && self.process.fault == Fault::SuspendedJobDeleted);
        if deletes {
            self.process
                .disk
                .lock()
                .checkpoints
                .retain(|(job, _), _| *job != self.job);
        }
        Ok(())
    }
}

struct Counter {
    process: Arc<Process>,
    job: JobId,
    /// Only with a fault: a count that the disk does not know.
    in_memory: Mutex<Option<u64>>,
    started: AtomicBool,
}

impl Counter {
    fn move_to(&self, decide: impl FnOnce(u64) -> u64) -> Result<u64> {
        if !self.started.load(Ordering::SeqCst) {
            return Err(refused(ErrorKind::Invalid, "not started"));
        }
        if self.process.fault == Fault::CounterInMemory {
            let mut count = self.in_memory.lock().unwrap();
            let present = count.unwrap_or(1);
            *count = Some(decide(present));
            return Ok(present);
        }
        let mut content = self.process.disk.lock();
        let stored = content.counters.entry(self.job).or_insert(Some(1));
        let present = stored.ok_or_else(|| corrupt("counters", self.job))?;
        *stored = Some(decide(present));
        Ok(present)
    }
}

#[async_trait]
impl CheckpointIdCounter for Counter {
    async fn start(&self) -> Result<()> {
        let mut content = self.process.disk.lock();
        let newest = content
            .checkpoints
            .keys()
            .filter(|(job, _)| *job == self.job && self.process.fault != Fault::CounterIgnoresCheckpoints)
            .map(|(_, id)| id.get())
            .max()
            .unwrap_or(0);
        let stored = match content.counters.get(&self.job) {
            Some(None) if self.process.fault != Fault::BrokenCounterIsOne => {
                return Err(corrupt("counters", self.job));
            }
            stored => stored.copied().flatten().unwrap_or(1),
        };
        content.counters.insert(self.job, Some(stored.max(newest + 1)));
        self.started.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn get_and_increment(&self) -> Result<CheckpointId> {
        self.process.check_write()?;
        if self.process.fault == Fault::CounterReadsThenWrites {
            let read = self.move_to(|present| present)?;
            tokio::task::yield_now().await;
            self.move_to(|_| read + 1)?;
            return CheckpointId::new(read);
        }
        CheckpointId::new(self.move_to(|present| present + 1)?)
    }

    async fn get(&self) -> Result<CheckpointId> {
        CheckpointId::new(self.move_to(|present| present)?)
    }

    async fn set_count(&self, next: CheckpointId) -> Result<()> {
        self.process.check_write()?;
        let back = self.process.fault == Fault::CounterSetBack;
        self.move_to(|present| if back { next.get() } else { present.max(next.get()) })?;
        Ok(())
    }

    async fn shutdown(&self, status: JobStatus) -> Result<()> {
        if status.is_globally_terminal() {
            self.process.disk.lock().counters.remove(&self.job);
        }
        Ok(())
    }
}
