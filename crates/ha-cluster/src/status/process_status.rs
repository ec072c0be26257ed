use std::time::Duration;

use ha_services::environment::BootInstant;
use ha_services::health::Health;

use super::{JobsStatus, LeaderView};

/// What a process knows at one instant.
#[derive(Clone, Debug)]
pub struct ProcessStatus {
    /// The name of the process.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// The address of its REST endpoint.
    pub address: String,
    /// Its version.
    pub version: &'static str,
    /// The instant.
    pub now: BootInstant,
    /// The same in milliseconds since 1970, to show.
    pub wall_time_millis: u64,
    /// Whether its REST endpoint leads.
    pub leads: bool,
    /// How much longer it may lead if nothing is answered any more, where it leads on a lease.
    pub lease_left: Option<Duration>,
    /// What is wrong.
    pub health: Health,
    /// The components of every process of the cluster.
    pub components: Vec<ComponentStatus>,
    /// The jobs, where its dispatcher leads.
    pub jobs: Option<JobsStatus>,
}

/// One component.
#[derive(Clone, Debug)]
pub struct ComponentStatus {
    /// Its name.
    pub name: &'static str,
    /// How it is led.
    pub led: LeaderView,
}

impl ProcessStatus {
    /// The address of the process that leads the REST endpoint, where another one does.
    pub fn leader_elsewhere(&self) -> Option<&str> {
        let led = self
            .components
            .iter()
            .find(|component| component.name == "rest_server")?;
        let leader = led.led.leader.as_ref()?;
        (!self.leads && leader.leader_address != self.address).then_some(leader.leader_address.as_str())
    }
}
