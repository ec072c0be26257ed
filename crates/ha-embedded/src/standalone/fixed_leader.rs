use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ha_core::election::{LeaderGrant, LeaderInformation};
use ha_core::error::{Error, Result};
use ha_core::ids::{Epoch, LeaderSessionId};
use ha_core::retrieval::{
    LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvent,
    LeaderRetrievalEvents,
};

/// The one term of standalone services.
pub(super) const STANDALONE_TERM: LeaderGrant = LeaderGrant {
    session: LeaderSessionId::DEFAULT,
    epoch: Epoch::new(1),
};

/// A leader that is always there; nobody where there is no address. It never changes, so that following it is
/// being told once.
#[derive(Clone)]
pub(super) struct FixedLeader {
    pub(super) address: Option<String>,
    /// The services are closed: nobody begins to follow any more.
    pub(super) closed: Arc<AtomicBool>,
}

impl FixedLeader {
    fn observation(&self) -> LeaderObservation {
        LeaderObservation {
            leader: self.address.clone().map(|leader_address| LeaderInformation {
                leader_address,
                leader_session_id: STANDALONE_TERM.session,
                epoch: STANDALONE_TERM.epoch,
            }),
            history: None,
        }
    }
}

#[async_trait]
impl LeaderRetrievalDriverFactory for FixedLeader {
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the HA services"));
        }
        let _ = events.send(LeaderRetrievalEvent::Observed(self.observation()));
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl LeaderRetrievalDriver for FixedLeader {
    async fn verify(&self) -> Result<LeaderObservation> {
        Ok(self.observation())
    }

    async fn close(&self) {}
}
