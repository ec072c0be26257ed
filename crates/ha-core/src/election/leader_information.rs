use serde::{Deserialize, Serialize};

use crate::ids::{Epoch, LeaderSessionId};

/// Who leads a component: where to reach it, in which term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaderInformation {
    /// The address that the contender confirmed.
    pub leader_address: String,
    /// The id of the grant.
    pub leader_session_id: LeaderSessionId,
    /// The number of the grant; see [`Epoch`].
    pub epoch: Epoch,
}
