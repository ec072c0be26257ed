use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalEvents};
use ha_core::{Error, Result};

use super::leader_watches::Followed;

/// One retriever of a component's leader.
pub struct ZooKeeperLeaderRetrievalDriver {
    /// `None` once closed.
    followed: Mutex<Option<(Arc<Followed>, u64)>>,
}

impl ZooKeeperLeaderRetrievalDriver {
    pub(super) fn new(followed: Arc<Followed>, events: LeaderRetrievalEvents) -> Self {
        let number = followed.subscribe(events);
        Self {
            followed: Mutex::new(Some((followed, number))),
        }
    }

    fn take(&self) {
        let followed = self
            .followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((followed, number)) = followed {
            followed.unsubscribe(number);
        }
    }
}

#[async_trait]
impl LeaderRetrievalDriver for ZooKeeperLeaderRetrievalDriver {
    async fn verify(&self) -> Result<LeaderObservation> {
        let followed = self
            .followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|(followed, _)| Arc::clone(followed));
        match followed {
            Some(followed) => followed.verify().await,
            None => Err(Error::closed("this leader retrieval")),
        }
    }

    async fn close(&self) {
        self.take();
    }
}

impl Drop for ZooKeeperLeaderRetrievalDriver {
    fn drop(&mut self) {
        self.take();
    }
}
