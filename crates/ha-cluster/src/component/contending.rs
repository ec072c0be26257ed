use std::sync::Arc;

use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::services::HighAvailabilityServices;
use ha_services::{LeaderElectionService, Result};

use super::Component;
use super::component_contender::ComponentContender;

/// A component that contends. Leaves the election by [`Contending::stop`] only.
pub struct Contending {
    election: Arc<dyn LeaderElectionService>,
}

impl Contending {
    /// Enters the election of `id` for `component`, which is to be reached at `address`.
    ///
    /// # Errors
    /// Those of [`LeaderElectionService::start`].
    pub async fn start(
        services: &dyn HighAvailabilityServices,
        id: ComponentId,
        address: &str,
        component: Arc<dyn Component>,
    ) -> Result<Self> {
        let election = services.leader_election(id.clone());
        let contender = Arc::new(ComponentContender {
            id,
            address: address.to_owned(),
            component,
            election: Arc::downgrade(&election),
        });
        election.start(contender).await?;
        Ok(Self { election })
    }

    /// Whether the component leads in this term, at this instant.
    pub async fn has_leadership(&self, session: LeaderSessionId) -> bool {
        self.election.has_leadership(session).await
    }

    /// Leaves the election. What could not be given up in the outside system ends there with the session.
    pub async fn stop(&self) {
        if let Err(error) = self.election.stop().await {
            tracing::warn!(%error, "an election was left without telling the others");
        }
    }
}
