use std::sync::Arc;

use async_trait::async_trait;
use ha_services::ids::LeaderSessionId;
use tokio::sync::{Semaphore, watch};

use super::Slot;
use crate::component::Component;

/// Gives slots to jobs while it leads: a job without one waits.
///
/// All components of a process lead together, so the slots are those of the leading process, and nothing of
/// them needs to outlive it: a new leader starts with all slots free and no job running.
pub struct ResourceManager {
    leading: watch::Sender<bool>,
    free: Arc<Semaphore>,
}

impl ResourceManager {
    /// With so many slots, at least one.
    pub fn new(slots: usize) -> Self {
        let slots = slots.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            leading: watch::Sender::new(false),
            free: Arc::new(Semaphore::new(slots)),
        }
    }

    /// Waits until it leads and a slot is free, and gives it.
    pub async fn acquire(&self) -> Slot {
        let mut leading = self.leading.subscribe();
        // The sender is part of `self`, so this ends by a grant only.
        let _ = leading.wait_for(|leading| *leading).await;
        match Arc::clone(&self.free).acquire_owned().await {
            Ok(permit) => Slot::new(permit),
            // Only a closed semaphore refuses, and this one is never closed.
            Err(_) => std::future::pending().await,
        }
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

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn slots_are_given_while_it_leads_and_come_back() {
        let manager = ResourceManager::new(1);
        assert!(manager.acquire().now_or_never().is_none());
        manager.granted(LeaderSessionId::DEFAULT).await;
        let slot = manager.acquire().await;
        assert!(manager.acquire().now_or_never().is_none());
        drop(slot);
        assert!(manager.acquire().now_or_never().is_some());
    }
}
