use crate::client::SessionId;

/// A latch of this process, as it last wrote or read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatchNode {
    /// Its name below the latches' parent.
    pub name: String,
    /// Its path.
    pub path: String,
    /// The version of this process's own last write.
    pub version: i32,
    /// The session that owns it.
    pub session: SessionId,
}
