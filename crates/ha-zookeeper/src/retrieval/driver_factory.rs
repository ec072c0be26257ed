use std::sync::Arc;

use async_trait::async_trait;
use ha_core::Result;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvents};

use super::{LeaderWatches, ZooKeeperLeaderRetrievalDriver};

/// Makes retrieval drivers of one component.
pub struct ZooKeeperLeaderRetrievalDriverFactory {
    watches: LeaderWatches,
    component: ComponentId,
}

impl ZooKeeperLeaderRetrievalDriverFactory {
    /// Follows the leader of `component`. All factories on the same `watches` share one watch a component.
    pub fn new(watches: LeaderWatches, component: ComponentId) -> Self {
        Self { watches, component }
    }
}

#[async_trait]
impl LeaderRetrievalDriverFactory for ZooKeeperLeaderRetrievalDriverFactory {
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>> {
        let followed = self.watches.follow(&self.component);
        Ok(Arc::new(ZooKeeperLeaderRetrievalDriver::new(followed, events)))
    }
}
