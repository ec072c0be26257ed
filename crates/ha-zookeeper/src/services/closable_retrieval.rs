use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ha_core::retrieval::{LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvents};
use ha_core::{Error, Result};

/// Makes drivers only as long as the services are open.
pub(super) struct ClosableRetrievalFactory<F> {
    pub inner: F,
    pub closed: Arc<AtomicBool>,
}

#[async_trait]
impl<F: LeaderRetrievalDriverFactory> LeaderRetrievalDriverFactory for ClosableRetrievalFactory<F> {
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the HA services"));
        }
        self.inner.create(events).await
    }
}
