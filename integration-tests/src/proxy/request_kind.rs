/// What a client asks for, by the number in the header of its request. Variants of one request are one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    /// The first frame of a connection: a session, new or standing.
    Connect,
    /// Create, also with Stat, of a container or with a time to live.
    Create,
    /// Delete.
    Delete,
    /// Exists, with or without a watch.
    Exists,
    /// The data of a node, with or without a watch.
    GetData,
    /// Set the data of a node.
    SetData,
    /// The names of a node's children, with or without a watch.
    GetChildren,
    /// Sync.
    Sync,
    /// The client's sign of life.
    Ping,
    /// Check of a version. Inside a multi only.
    Check,
    /// Several writes, all or none.
    Multi,
    /// Several reads.
    MultiRead,
    /// The watches that a client re-sends after a reconnect.
    SetWatches,
    /// A persistent watch.
    AddWatch,
    /// Takes watches off.
    RemoveWatches,
    /// Credentials.
    Auth,
    /// The end of the session.
    CloseSession,
    /// Any other, by its number.
    Other(i32),
}

impl RequestKind {
    /// The kind of a request whose header has this number.
    pub(super) fn from_code(code: i32) -> Self {
        match code {
            1 | 15 | 19 | 21 => Self::Create,
            2 | 20 => Self::Delete,
            3 => Self::Exists,
            4 => Self::GetData,
            5 => Self::SetData,
            8 | 12 => Self::GetChildren,
            9 => Self::Sync,
            11 => Self::Ping,
            13 => Self::Check,
            14 => Self::Multi,
            22 => Self::MultiRead,
            100 => Self::Auth,
            101 | 105 => Self::SetWatches,
            106 => Self::AddWatch,
            17 | 18 => Self::RemoveWatches,
            -11 => Self::CloseSession,
            other => Self::Other(other),
        }
    }

    /// Whether its record begins with the path of a node.
    pub(super) fn begins_with_a_path(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Delete
                | Self::Exists
                | Self::GetData
                | Self::SetData
                | Self::GetChildren
                | Self::Sync
                | Self::Check
                | Self::AddWatch
                | Self::RemoveWatches
        )
    }
}
