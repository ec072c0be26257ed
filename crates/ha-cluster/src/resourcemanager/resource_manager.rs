use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ha_services::ids::{JobId, LeaderSessionId};
use tokio::sync::{Semaphore, watch};

use super::Slot;
use crate::component::Component;

/// Gives slots to jobs while it leads: a job without one waits.
///
/// All components of a process lead together, so the slots are those of the leading process, and nothing of
/// them needs to outlive it: a new leader starts with all slots free and no job running.
pub struct ResourceManager {
    leading: watch::Sender<bool>,
    slots: Arc<Slots>,
}

impl ResourceManager {
    /// With so many slots, at least one.
    pub fn new(slots: usize) -> Self {
        let slots = slots.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            leading: watch::Sender::new(false),
            slots: Arc::new(Slots {
                free: Arc::new(Semaphore::new(slots)),
                held: Mutex::new(BTreeSet::new()),
            }),
        }
    }

    /// Waits until it leads and a slot is free, and gives it to the job.
    pub async fn acquire(&self, job_id: JobId) -> Slot {
        let mut leading = self.leading.subscribe();
        // The sender is part of `self`, so this ends by a grant only.
        let _ = leading.wait_for(|leading| *leading).await;
        match Arc::clone(&self.slots.free).acquire_owned().await {
            Ok(permit) => {
                self.slots.hold(job_id);
                Slot::new(job_id, Arc::clone(&self.slots), permit)
            }
            // Only a closed semaphore refuses, and this one is never closed.
            Err(_) => std::future::pending().await,
        }
    }

    /// The jobs that hold a slot.
    pub fn holders(&self) -> BTreeSet<JobId> {
        self.slots.lock().clone()
    }

    /// How many slots are free.
    pub fn free_slots(&self) -> usize {
        self.slots.free.available_permits()
    }
}

#[async_trait]
impl Component for ResourceManager {
    async fn granted(&self, _session: LeaderSessionId) {
        self.leading.send_replace(true);
    }

    async fn revoked(&self) {
        self.leading.send_replace(false);
    }
}

/// The slots and who holds them.
pub(super) struct Slots {
    free: Arc<Semaphore>,
    held: Mutex<BTreeSet<JobId>>,
}

impl Slots {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<JobId>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, job_id: JobId) {
        self.lock().insert(job_id);
    }

    pub(super) fn release(&self, job_id: JobId) {
        self.lock().remove(&job_id);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn slots_are_given_while_it_leads_and_come_back() {
        let manager = ResourceManager::new(1);
        let [first, second] = [1, 2].map(|byte| JobId::from_bytes([byte; 16]));
        assert!(manager.acquire(first).now_or_never().is_none());
        manager.granted(LeaderSessionId::DEFAULT).await;
        let slot = manager.acquire(first).await;
        assert_eq!(manager.holders(), BTreeSet::from([first]));
        assert!(manager.acquire(second).now_or_never().is_none());
        drop(slot);
        let _slot = manager.acquire(second).await;
        assert_eq!(
            (manager.holders(), manager.free_slots()),
            (BTreeSet::from([second]), 0)
        );
    }
}
