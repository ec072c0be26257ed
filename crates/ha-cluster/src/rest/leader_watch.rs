use std::sync::Arc;

use async_trait::async_trait;
use ha_services::election::LeaderInformation;
use ha_services::ids::ComponentId;
use ha_services::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};
use ha_services::services::HighAvailabilityServices;
use ha_services::{Error, Result};
use tokio::sync::watch;

use crate::events;

/// The leader of one component, followed.
pub struct LeaderWatch {
    retrieval: Arc<dyn LeaderRetrievalService>,
    leader: watch::Receiver<Option<LeaderInformation>>,
}

impl LeaderWatch {
    /// Follows the leader of a component.
    ///
    /// # Errors
    /// Those of [`LeaderRetrievalService::start`].
    pub async fn start(services: &dyn HighAvailabilityServices, component: ComponentId) -> Result<Self> {
        Self::follow(services.leader_retriever(component.clone()), component).await
    }

    /// Follows by a retrieval that is not started yet.
    ///
    /// # Errors
    /// Those of [`LeaderRetrievalService::start`].
    pub async fn follow(retrieval: Arc<dyn LeaderRetrievalService>, component: ComponentId) -> Result<Self> {
        let leader = retrieval.subscribe();
        retrieval.start(Arc::new(LoggingListener { component })).await?;
        Ok(Self { retrieval, leader })
    }

    /// The leader now.
    pub fn leader(&self) -> Option<LeaderInformation> {
        self.leader.borrow().clone()
    }

    /// The leader as a watch.
    pub fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.leader.clone()
    }

    /// Stops following.
    pub async fn stop(&self) {
        if let Err(error) = self.retrieval.stop().await {
            tracing::debug!(%error, "a leader retrieval did not stop well");
        }
    }
}

struct LoggingListener {
    component: ComponentId,
}

#[async_trait]
impl LeaderRetrievalListener for LoggingListener {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        events::leader_changed(&self.component, leader.as_ref());
    }

    async fn handle_error(&self, error: Error) {
        tracing::error!(component = %self.component, %error, "error of leader retrieval");
    }
}
