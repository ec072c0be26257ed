use ha_core::environment::BoxFuture;

/// What a one-shot watch says when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The node was created or changed, or its children changed: read again.
    Changed,
    /// The node was deleted, as far as this event knows: read again.
    Deleted,
    /// The session is over; the watch is gone with it.
    SessionOver,
}

/// A one-shot watch. It survives a reconnect of its session, and fires too for a change that was made while the
/// connection was down. Dropping it takes the watch off.
pub type NodeWatch = BoxFuture<NodeEvent>;
