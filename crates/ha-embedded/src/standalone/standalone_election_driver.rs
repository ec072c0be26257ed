use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ha_core::election::{
    LeaderElectionDriver, LeaderElectionDriverFactory, LeaderElectionEvent, LeaderElectionEvents,
    LeaderInformation,
};
use ha_core::error::{Error, Result};
use ha_core::ids::{ComponentId, LeaderSessionId};

use super::fixed_leader::STANDALONE_TERM;

/// Grants leadership at once to whoever asks, until the services are closed.
pub(super) struct StandaloneElectionDriverFactory {
    pub(super) closed: Arc<AtomicBool>,
}

struct StandaloneElectionDriver {
    ended: AtomicBool,
}

#[async_trait]
impl LeaderElectionDriverFactory for StandaloneElectionDriverFactory {
    async fn create(&self, events: LeaderElectionEvents) -> Result<Arc<dyn LeaderElectionDriver>> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::closed("the HA services"));
        }
        let _ = events.send(LeaderElectionEvent::Granted(STANDALONE_TERM));
        Ok(Arc::new(StandaloneElectionDriver {
            ended: AtomicBool::new(false),
        }))
    }
}

#[async_trait]
impl LeaderElectionDriver for StandaloneElectionDriver {
    fn has_leadership(&self, session: LeaderSessionId) -> bool {
        session == STANDALONE_TERM.session && !self.ended.load(Ordering::Acquire)
    }

    /// Followers know the fixed address.
    async fn publish(&self, _component: &ComponentId, _information: &LeaderInformation) -> Result<()> {
        Ok(())
    }

    async fn withdraw(&self, _component: &ComponentId) -> Result<()> {
        Ok(())
    }

    fn end_leadership(&self) {
        self.ended.store(true, Ordering::Release);
    }

    async fn revoked(&self, _session: LeaderSessionId) {}

    async fn close(&self) -> Result<()> {
        self.end_leadership();
        Ok(())
    }
}
