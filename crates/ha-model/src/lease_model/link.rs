use super::scale::Scale;

/// How the client of a process is connected. Every process has a follower of its own: an ensemble may be as
/// large as it takes for all of them to be cut off from the majority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// To ZooKeeper's leader.
    Leader,
    /// To a follower.
    Follower,
    /// To a follower that is cut off from its leader: it answers reads, and nothing that needs the leader.
    CutFollower,
    /// To a leader that was cut off from its followers, which have another one: it answers reads and `sync`, and
    /// commits nothing.
    OldLeader,
    /// To a server, but nothing arrives. `silent`: since when the client has heard nothing.
    Isolated {
        /// Only the way back is blocked: requests and the client's pings arrive.
        one_way: bool,
        /// Units since the last byte was received.
        silent: u8,
    },
    /// To none; the client connects again by itself.
    Down {
        /// Units since the last byte was received.
        silent: u8,
        /// Units until it connects.
        wait: u8,
    },
    /// The session is over, and this process knows it; it gets another one.
    WithoutSession {
        /// Units until it has one.
        wait: u8,
    },
}

impl Link {
    /// The servers behind it have a quorum.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Leader | Self::Follower)
    }

    /// The server behind it is cut off and goes on answering reads.
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::CutFollower | Self::OldLeader)
    }

    /// Something is broken that has to be mended before anything gets better.
    pub const fn is_faulty(self) -> bool {
        self.is_cut() || matches!(self, Self::Isolated { .. })
    }

    /// The connection was closed. The client connects again at once, or waits as long as it may: its waits double
    /// with the time that it has been without a connection.
    pub fn closed(silent: u8, waits: bool, scale: &Scale) -> Self {
        let wait = if !waits {
            0
        } else if silent >= scale.client_gives_up() {
            scale.quarter()
        } else {
            (silent + 1).min(scale.client_gives_up() - silent)
        };
        Self::Down { silent, wait }
    }
}
