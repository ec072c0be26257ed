use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ha_services::election::LeaderInformation;
use ha_services::environment::{Clock, Environment};
use ha_services::ids::ComponentId;
use ha_services::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};
use ha_services::services::HighAvailabilityServices;
use ha_services::{Error, Result};
use tokio::sync::watch;

use crate::events;
use crate::status::{LeaderHistory, LeaderView};

/// The leader of one component, followed.
pub struct LeaderWatch {
    retrieval: Arc<dyn LeaderRetrievalService>,
    leader: watch::Receiver<Option<LeaderInformation>>,
    history: Arc<ObservedHistory>,
}

impl LeaderWatch {
    /// Follows the leader of a component.
    ///
    /// # Errors
    /// Those of [`LeaderRetrievalService::start`].
    pub async fn start(
        services: &dyn HighAvailabilityServices,
        component: ComponentId,
        environment: &Environment,
    ) -> Result<Self> {
        Self::follow(
            services.leader_retriever(component.clone()),
            component,
            environment,
        )
        .await
    }

    /// Follows by a retrieval that is not started yet.
    ///
    /// # Errors
    /// Those of [`LeaderRetrievalService::start`].
    pub async fn follow(
        retrieval: Arc<dyn LeaderRetrievalService>,
        component: ComponentId,
        environment: &Environment,
    ) -> Result<Self> {
        let clock = Arc::clone(&environment.clock);
        let history = Arc::new(ObservedHistory {
            history: Mutex::new(LeaderHistory::new(clock.now())),
            clock,
        });
        let leader = retrieval.subscribe();
        let listener = Listener {
            component,
            history: Arc::clone(&history),
        };
        retrieval.start(Arc::new(listener)).await?;
        Ok(Self {
            retrieval,
            leader,
            history,
        })
    }

    /// The leader now.
    pub fn leader(&self) -> Option<LeaderInformation> {
        self.leader.borrow().clone()
    }

    /// How the component is led now, and was.
    pub fn view(&self) -> LeaderView {
        self.history.lock().view(self.history.clock.now())
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

struct ObservedHistory {
    clock: Arc<dyn Clock>,
    history: Mutex<LeaderHistory>,
}

impl ObservedHistory {
    fn lock(&self) -> MutexGuard<'_, LeaderHistory> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes and logs each leader.
struct Listener {
    component: ComponentId,
    history: Arc<ObservedHistory>,
}

#[async_trait]
impl LeaderRetrievalListener for Listener {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        events::leader_changed(&self.component, leader.as_ref());
        self.history.lock().observe(leader, self.history.clock.now());
    }

    async fn handle_error(&self, error: Error) {
        tracing::error!(component = %self.component, %error, "error of leader retrieval");
    }
}
