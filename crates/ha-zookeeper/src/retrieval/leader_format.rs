use ha_core::election::LeaderInformation;
use ha_core::ids::{ComponentId, Epoch, LeaderSessionId};
use ha_core::{Error, ErrorKind, Result};
use ha_flink::Generation;

use crate::client::Stat;
use crate::codec::ConnectionInfo;
use crate::paths::ClusterPaths;

/// In which form leaders are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaderFormat {
    /// This library's own.
    Native,
    /// That of Apache Flink, which has neither epochs nor an identity of the tree.
    Flink(Generation),
}

impl LeaderFormat {
    /// The znode that tells who leads a component.
    pub(super) fn path(self, paths: &ClusterPaths, component: &ComponentId) -> String {
        match (self, component.job_id()) {
            (Self::Flink(Generation::LatchPerComponent), Some(job_id)) => {
                format!("{}/leader/connection_info", paths.job(job_id))
            }
            _ => paths.connection_info(component),
        }
    }

    /// The znode that tells of which history the tree is.
    pub(super) fn identity(self, paths: &ClusterPaths) -> Option<String> {
        match self {
            Self::Native => Some(paths.identity()),
            Self::Flink(_) => None,
        }
    }

    /// What the znode `path` says; `None` when nobody leads.
    ///
    /// # Errors
    /// `Corrupt`, with the path and the reason.
    pub(super) fn decode(self, path: &str, data: &[u8], stat: &Stat) -> Result<Option<LeaderInformation>> {
        match self {
            Self::Native => ConnectionInfo::decode(path, data),
            Self::Flink(_) => {
                let leader = ha_flink::LeaderInformation::decode(data).map_err(|error| {
                    Error::new(ErrorKind::Corrupt, error.to_string())
                        .at(path)
                        .advise("see whether Flink's leader is alive: it writes it anew when it leads again")
                        .not_applied()
                })?;
                Ok(leader.map(|leader| {
                    let (high, low) = leader.session_id.as_u64_pair();
                    LeaderInformation {
                        leader_address: leader.address,
                        leader_session_id: LeaderSessionId::from_bits(high, low),
                        // It grows with every leader, and with every new address or session id of one.
                        epoch: Epoch::new(u64::try_from(stat.mzxid).unwrap_or(0)),
                    }
                }))
            }
        }
    }
}
