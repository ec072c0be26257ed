use std::sync::Arc;

use async_trait::async_trait;
use ha_core::error::Result;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{
    LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvents,
};

use super::ElectionRegistry;
use super::registry_state::Number;

/// Follows one component in the registry.
pub(crate) struct EmbeddedRetrievalDriverFactory {
    pub(crate) registry: Arc<ElectionRegistry>,
    pub(crate) component: ComponentId,
}

/// One follower in the registry; dropping it stops following.
struct EmbeddedRetrievalDriver {
    registry: Arc<ElectionRegistry>,
    component: ComponentId,
    number: Number,
}

#[async_trait]
impl LeaderRetrievalDriverFactory for EmbeddedRetrievalDriverFactory {
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>> {
        let number = self
            .registry
            .with_open(|state, _| state.follow(&self.component, events))?;
        Ok(Arc::new(EmbeddedRetrievalDriver {
            registry: Arc::clone(&self.registry),
            component: self.component.clone(),
            number,
        }))
    }
}

impl EmbeddedRetrievalDriver {
    fn unfollow(&self) {
        self.registry
            .with(|state, _| state.unfollow(&self.component, self.number));
    }
}

#[async_trait]
impl LeaderRetrievalDriver for EmbeddedRetrievalDriver {
    async fn verify(&self) -> Result<LeaderObservation> {
        Ok(self.registry.with(|state, _| state.observe(&self.component)))
    }

    async fn close(&self) {
        self.unfollow();
    }
}

impl Drop for EmbeddedRetrievalDriver {
    fn drop(&mut self) {
        self.unfollow();
    }
}
