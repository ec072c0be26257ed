use zookeeper_client as zk;

use super::{Stat, ZkCode, ZkError};

/// Sorts the client crate's errors: its own classification is private, so this is an allow-list of definite
/// answers. What is not on it may have taken effect.
impl From<zk::Error> for ZkError {
    fn from(error: zk::Error) -> Self {
        let code = match &error {
            zk::Error::NoNode => ZkCode::NoNode,
            zk::Error::NodeExists => ZkCode::NodeExists,
            zk::Error::BadVersion => ZkCode::BadVersion,
            zk::Error::NotEmpty => ZkCode::NotEmpty,
            zk::Error::NoAuth => ZkCode::NoAuth,
            zk::Error::InvalidAcl => ZkCode::InvalidAcl,
            zk::Error::NoChildrenForEphemerals => ZkCode::NoChildrenForEphemerals,
            zk::Error::QuotaExceeded => ZkCode::QuotaExceeded,
            zk::Error::Throttled => ZkCode::Throttled,
            zk::Error::BadArguments(_) => ZkCode::BadArguments,
            zk::Error::NotReadOnly => ZkCode::NotReadOnly,
            zk::Error::Unimplemented => ZkCode::Unimplemented,
            zk::Error::AuthFailed => ZkCode::AuthFailed,
            zk::Error::SessionExpired | zk::Error::ClientClosed => ZkCode::SessionOver,
            // A stalled or reset connection is `Custom`, one that the server closed is `ConnectionLoss`.
            zk::Error::ConnectionLoss | zk::Error::Timeout | zk::Error::NoHosts | zk::Error::Custom(_) => {
                ZkCode::ConnectionLoss
            }
            _ => ZkCode::Other,
        };
        Self::new(code, error.to_string())
    }
}

impl From<zk::Stat> for Stat {
    fn from(stat: zk::Stat) -> Self {
        Self {
            czxid: stat.czxid,
            mzxid: stat.mzxid,
            version: stat.version,
            cversion: stat.cversion,
            ephemeral_owner: stat.ephemeral_owner,
            data_length: stat.data_length,
            num_children: stat.num_children,
            ctime: stat.ctime,
            mtime: stat.mtime,
        }
    }
}

#[cfg(test)]
mod tests {
    use ha_core::Effect;

    use super::*;

    #[test]
    fn only_definite_answers_are_not_applied() {
        for definite in [
            zk::Error::NoNode,
            zk::Error::BadVersion,
            zk::Error::Throttled,
            zk::Error::NotEmpty,
        ] {
            assert_eq!(ZkError::from(definite).effect(), Effect::NotApplied);
        }
        for unknown in [
            zk::Error::ConnectionLoss,
            zk::Error::Timeout,
            zk::Error::SessionExpired,
            zk::Error::ClientClosed,
            zk::Error::SessionMoved,
            zk::Error::UnexpectedErrorCode(-99),
            zk::Error::RuntimeInconsistent,
        ] {
            assert_eq!(ZkError::from(unknown).effect(), Effect::Unknown);
        }
    }
}
