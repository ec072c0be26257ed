use std::time::Duration;

/// A direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Requests.
    ToServer,
    /// Replies and notifications.
    ToClient,
}

/// What is done to one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirectionFaults {
    /// What travels is held back.
    pub(super) held: bool,
    /// What travels arrives later by this.
    pub(super) delay: Duration,
}

/// What the proxy does to all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    to_server: DirectionFaults,
    to_client: DirectionFaults,
    /// Raised to cut the connections that stand.
    pub(super) cuts: u64,
    /// New connections are closed at once.
    pub(super) refuse: bool,
    /// New connections ask for a new session, whatever session the client asks for.
    pub(super) swap_sessions: bool,
    /// Watch events are lost, and nothing else.
    pub(super) swallow_events: bool,
}

impl Faults {
    pub(super) fn of(&self, direction: Direction) -> &DirectionFaults {
        match direction {
            Direction::ToServer => &self.to_server,
            Direction::ToClient => &self.to_client,
        }
    }

    pub(super) fn of_mut(&mut self, direction: Direction) -> &mut DirectionFaults {
        match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }
}
