/// What may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A process takes no step for a while.
    Pause,
    /// A process ends.
    Crash,
    /// A follower is cut off.
    CutFollower,
    /// ZooKeeper's leader is cut off.
    CutZooKeeperLeader,
    /// Packets between a process and its server are dropped.
    Isolate,
    /// Packets from a server to its process are dropped.
    IsolateOneWay,
    /// A request is held up before the server.
    HoldRequest,
    /// A reply is held up.
    HoldReply,
    /// A reply is lost, and the connection with it.
    LoseReply,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Pause,
        Self::Crash,
        Self::CutFollower,
        Self::CutZooKeeperLeader,
        Self::Isolate,
        Self::IsolateOneWay,
        Self::HoldRequest,
        Self::HoldReply,
        Self::LoseReply,
    ];
}
