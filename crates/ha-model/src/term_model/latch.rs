use super::stamp::Stamp;

/// A latch znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Latch {
    /// Its creation: its zxid, its place in the order, and its identity (the uuid is fresh for each create).
    pub created: Stamp,
    /// Whose name it bears.
    pub maker: usize,
    /// It is owned by the present session of that process, not by one that its client has given up.
    pub of_present_session: bool,
    /// Its version.
    pub version: u8,
    /// The zxid of the last write.
    pub modified: Stamp,
    /// The term in its data.
    pub term: Option<Stamp>,
}
