use std::fmt;

use ha_core::{Effect, Error, ErrorKind};

/// The result of a ZooKeeper operation.
pub type ZkResult<T> = Result<T, ZkError>;

/// Why the server or the client refused.
///
/// The first group is the allow-list of definite answers: the operation certainly did not
/// take effect. Everything else may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZkCode {
    /// The node is not there.
    NoNode,
    /// The node is there already.
    NodeExists,
    /// The node is at another version.
    BadVersion,
    /// The node has children.
    NotEmpty,
    /// The rights do not suffice.
    NoAuth,
    /// The access control list is wrong.
    InvalidAcl,
    /// The parent is ephemeral.
    NoChildrenForEphemerals,
    /// A quota is used up.
    QuotaExceeded,
    /// The server sheds load.
    Throttled,
    /// The request is malformed, for instance its path.
    BadArguments,
    /// The server is read-only.
    NotReadOnly,
    /// The server does not know the operation.
    Unimplemented,
    /// The credentials were refused; the session is over.
    AuthFailed,
    /// The session is over.
    SessionOver,
    /// The connection was lost, or no answer came in time.
    ConnectionLoss,
    /// Anything else.
    Other,
}

/// A failed ZooKeeper operation.
#[derive(Clone, Debug)]
pub struct ZkError {
    /// Why.
    pub code: ZkCode,
    /// The client's words.
    pub message: String,
}

impl ZkError {
    /// An error of this code.
    pub fn new(code: ZkCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Whether the operation took effect: an allow-list of definite answers, unknown otherwise.
    pub fn effect(&self) -> Effect {
        match self.code {
            ZkCode::NoNode
            | ZkCode::NodeExists
            | ZkCode::BadVersion
            | ZkCode::NotEmpty
            | ZkCode::NoAuth
            | ZkCode::InvalidAcl
            | ZkCode::NoChildrenForEphemerals
            | ZkCode::QuotaExceeded
            | ZkCode::Throttled
            | ZkCode::BadArguments
            | ZkCode::NotReadOnly
            | ZkCode::Unimplemented => Effect::NotApplied,
            ZkCode::AuthFailed | ZkCode::SessionOver | ZkCode::ConnectionLoss | ZkCode::Other => {
                Effect::Unknown
            }
        }
    }

    /// The same as an error of this project, about the znode `path`.
    pub fn at(self, path: &str) -> Error {
        let kind = match self.code {
            ZkCode::NoNode => ErrorKind::NotFound,
            ZkCode::NodeExists => ErrorKind::AlreadyExists,
            ZkCode::BadVersion | ZkCode::NotEmpty => ErrorKind::Conflict,
            ZkCode::NoAuth | ZkCode::InvalidAcl | ZkCode::AuthFailed => ErrorKind::Denied,
            ZkCode::BadArguments | ZkCode::NoChildrenForEphemerals | ZkCode::Unimplemented => {
                ErrorKind::Invalid
            }
            ZkCode::QuotaExceeded
            | ZkCode::Throttled
            | ZkCode::NotReadOnly
            | ZkCode::SessionOver
            | ZkCode::ConnectionLoss
            | ZkCode::Other => ErrorKind::Unavailable,
        };
        let effect = self.effect();
        let advice = match self.code {
            ZkCode::QuotaExceeded => {
                Some("raise ZooKeeper's quota of this part of the tree, or delete what is not needed there")
            }
            ZkCode::Throttled => {
                Some("relieve the ZooKeeper servers: they refuse requests because they have too many")
            }
            _ => None,
        };
        let error = Error::new(kind, self.message).at(path).with_effect(effect);
        match advice {
            Some(advice) => error.advise(advice),
            None => error,
        }
    }
}

impl fmt::Display for ZkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ZkError {}
