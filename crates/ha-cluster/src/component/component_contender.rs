use std::sync::{Arc, Weak};

use async_trait::async_trait;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{Error, LeaderContender, LeaderElectionService};

use super::Component;
use crate::events;

/// Stands in an election for a component: logs, lets it act, and publishes the process's address.
pub(super) struct ComponentContender {
    pub(super) id: ComponentId,
    pub(super) address: String,
    pub(super) component: Arc<dyn Component>,
    /// Weak, because the election holds the contender.
    pub(super) election: Weak<dyn LeaderElectionService>,
}

#[async_trait]
impl LeaderContender for ComponentContender {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        events::leadership_granted(&self.id, session);
        self.component.granted(session).await;
        let Some(election) = self.election.upgrade() else {
            return;
        };
        match election.confirm_leadership(session, Some(&self.address)).await {
            Ok(true) => events::leadership_confirmed(&self.id, session, &self.address),
            Ok(false) => tracing::info!(component = %self.id, "leadership was over before it was confirmed"),
            // The service publishes it itself once it can.
            Err(error) => tracing::warn!(component = %self.id, %error, "leadership is not confirmed yet"),
        }
    }

    async fn revoke_leadership(&self) {
        events::leadership_revoked(&self.id);
        self.component.revoked().await;
    }

    fn address(&self) -> String {
        self.address.clone()
    }

    fn description(&self) -> String {
        format!("{} at {}", self.id, self.address)
    }

    async fn handle_error(&self, error: Error) {
        tracing::error!(component = %self.id, %error, "error of the election");
    }
}
