use std::sync::Arc;

use ha_services::environment::Environment;
use ha_services::health::HealthMonitor;

use super::{LeaderOverview, LeaderWatch, LeadersOverview, Overview, ProcessOverview, RestLeadership};
use crate::dispatcher::Dispatcher;

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
    /// The health of the HA services.
    pub health: HealthMonitor,
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
        let health = self.health.snapshot();
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
}
