use std::sync::Arc;

use async_trait::async_trait;
use ha_core::election::{
    LeaderElectionDriver, LeaderElectionDriverFactory, LeaderElectionEvents, LeaderInformation,
};
use ha_core::error::{Error, Result};
use ha_core::ids::{ComponentId, LeaderSessionId};

use super::ElectionRegistry;
use super::registry_state::Number;

/// Lets a contender for one component enter the registry.
pub(crate) struct EmbeddedElectionDriverFactory {
    pub(crate) registry: Arc<ElectionRegistry>,
    pub(crate) component: ComponentId,
}

/// One contender in the registry; dropping it leaves.
struct EmbeddedElectionDriver {
    registry: Arc<ElectionRegistry>,
    component: ComponentId,
    number: Number,
}

#[async_trait]
impl LeaderElectionDriverFactory for EmbeddedElectionDriverFactory {
    async fn create(&self, events: LeaderElectionEvents) -> Result<Arc<dyn LeaderElectionDriver>> {
        let number = self
            .registry
            .with_open(|state, ids| state.enter(&self.component, events, ids))?;
        Ok(Arc::new(EmbeddedElectionDriver {
            registry: Arc::clone(&self.registry),
            component: self.component.clone(),
            number,
        }))
    }
}

impl EmbeddedElectionDriver {
    fn leave(&self) {
        self.registry
            .with(|state, ids| state.leave(&self.component, self.number, ids));
    }
}

#[async_trait]
impl LeaderElectionDriver for EmbeddedElectionDriver {
    fn has_leadership(&self, session: LeaderSessionId) -> bool {
        self.registry
            .with(|state, _| state.leads(&self.component, self.number, session))
    }

    async fn publish(&self, component: &ComponentId, information: &LeaderInformation) -> Result<()> {
        let session = Some(information.leader_session_id);
        let published = self
            .registry
            .with(|state, _| state.publish(component, self.number, session, Some(information.clone())));
        if published {
            Ok(())
        } else {
            Err(Error::not_leader("the term is over").at(component.as_str()))
        }
    }

    async fn withdraw(&self, component: &ComponentId) -> Result<()> {
        // Who leads no more has left nothing behind.
        self.registry
            .with(|state, _| state.publish(component, self.number, None, None));
        Ok(())
    }

    fn end_leadership(&self) {
        self.registry
            .with(|state, _| state.end_leadership(&self.component, self.number));
    }

    async fn revoked(&self, session: LeaderSessionId) {
        self.registry
            .with(|state, ids| state.revoked(&self.component, self.number, session, ids));
    }

    async fn close(&self) -> Result<()> {
        self.leave();
        Ok(())
    }
}

impl Drop for EmbeddedElectionDriver {
    fn drop(&mut self) {
        self.leave();
    }
}
