use std::sync::Arc;

use ha_services::environment::Environment;
use ha_services::services::HighAvailabilityServices;

use super::{LeaderOverview, LeaderWatch, LeadersOverview, Overview, ProcessOverview, RestLeadership};
use crate::dispatcher::Dispatcher;
use crate::status::{CheckpointMetrics, ComponentStatus, ProcessStatus};

/// What the handlers of requests see.
pub struct RestState {
    /// The name of the process.
    pub name: String,
    /// The address under which this endpoint is reached.
    pub address: String,
    /// Time and ids.
    pub environment: Environment,
    /// Whether this endpoint leads.
    pub leadership: Arc<RestLeadership>,
    /// The dispatcher of this process.
    pub dispatcher: Arc<Dispatcher>,
    /// The HA services, asked for what they have in memory only.
    pub services: Arc<dyn HighAvailabilityServices>,
    /// The checkpoints that this process took.
    pub checkpoints: CheckpointMetrics,
    /// The leading dispatcher.
    pub dispatcher_leader: Arc<LeaderWatch>,
    /// The leading resource manager.
    pub resource_manager_leader: Arc<LeaderWatch>,
    /// The leading REST endpoint.
    pub rest_leader: Arc<LeaderWatch>,
}

impl RestState {
    /// The overview of this process.
    pub fn overview(&self) -> Overview {
        let health = self.services.health().snapshot();
        let leader = |watch: &LeaderWatch| watch.leader().as_ref().map(LeaderOverview::from);
        Overview {
            process: ProcessOverview {
                name: self.name.clone(),
                pid: std::process::id(),
                rest_address: self.address.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                connection: health.connection,
                degraded: health.is_degraded(),
            },
            leaders: LeadersOverview {
                dispatcher: leader(&self.dispatcher_leader),
                resource_manager: leader(&self.resource_manager_leader),
                rest_server: leader(&self.rest_leader),
            },
        }
    }

    /// What this process knows, from memory: whoever asks gets an answer while ZooKeeper and the storage are away.
    pub async fn status(&self) -> ProcessStatus {
        let clock = &self.environment.clock;
        let components = [
            ("dispatcher", &self.dispatcher_leader),
            ("resource_manager", &self.resource_manager_leader),
            ("rest_server", &self.rest_leader),
        ];
        ProcessStatus {
            name: self.name.clone(),
            pid: std::process::id(),
            address: self.address.clone(),
            version: env!("CARGO_PKG_VERSION"),
            now: clock.now(),
            wall_time_millis: clock.wall_time_millis(),
            leads: self.leadership.leads().await,
            lease_left: self.services.lease_left(),
            health: self.services.health().snapshot(),
            components: components
                .map(|(name, watch)| ComponentStatus {
                    name,
                    led: watch.view(),
                })
                .into(),
            jobs: self.dispatcher.standing(),
        }
    }
}
