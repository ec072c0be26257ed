/// What may happen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A lease runs out.
    LeaseOver,
    /// A session expires.
    Expire,
    /// A client gives its session up, or attaches to it again, and a session that was given up expires.
    GiveUp,
    /// A reply is lost.
    LoseReply,
    /// An operator deletes or sets a latch.
    Operator,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::LeaseOver,
        Self::Expire,
        Self::GiveUp,
        Self::LoseReply,
        Self::Operator,
    ];
}
