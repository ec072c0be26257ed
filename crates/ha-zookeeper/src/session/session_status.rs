use ha_core::health::ConnectionState;

use crate::client::SessionId;

/// What a session says of itself. Always the latest, intermediate states maybe: compare `connects` to learn of
/// an interruption that is over already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStatus {
    /// The state of the connection.
    pub state: ConnectionState,
    /// The session that the present client has; `None` while there is no client.
    pub session: Option<SessionId>,
    /// How often a connection was made or made again. After a change nothing that was read before holds, and
    /// watches may belong to a session that is gone.
    pub connects: u64,
    /// Closed for good: by [`close`](super::ZooKeeperSession::close), or after the credentials were refused.
    pub closed: bool,
}

impl SessionStatus {
    pub(super) const INITIAL: Self = Self {
        state: ConnectionState::Lost,
        session: None,
        connects: 0,
        closed: false,
    };

    /// Whether requests are answered by a server that can write, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.state == ConnectionState::Connected
    }
}
