use ha_services::election::LeaderInformation;
use ha_services::health::ConnectionState;
use serde::{Deserialize, Serialize};

/// The answer to `GET /v1/overview`: about the process that was asked, and the leaders as it sees them. No time
/// and no counter is in it, so two equal answers mean that nothing changed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The process.
    pub process: ProcessOverview,
    /// The leaders.
    pub leaders: LeadersOverview,
}

/// The process that was asked.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessOverview {
    /// Its name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// The address of its REST endpoint.
    pub rest_address: String,
    /// Its version.
    pub version: String,
    /// The state of its connection to the outside system.
    pub connection: ConnectionState,
    /// Whether something needs a person's eye.
    pub degraded: bool,
}

/// The leaders of the three components; `null` when unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadersOverview {
    /// The dispatcher.
    pub dispatcher: Option<LeaderOverview>,
    /// The resource manager.
    pub resource_manager: Option<LeaderOverview>,
    /// The REST endpoint.
    pub rest_server: Option<LeaderOverview>,
}

/// One leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaderOverview {
    /// The address of its REST endpoint.
    pub address: String,
    /// The id of its term.
    pub session_id: String,
    /// The number of its term.
    pub epoch: u64,
}

impl From<&LeaderInformation> for LeaderOverview {
    fn from(leader: &LeaderInformation) -> Self {
        Self {
            address: leader.leader_address.clone(),
            session_id: leader.leader_session_id.to_string(),
            epoch: leader.epoch.get(),
        }
    }
}
