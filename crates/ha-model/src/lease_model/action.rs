use std::fmt;

use super::fault_kind::FaultKind;
use super::request::Fate;

/// A process, by its place in the state.
pub type ProcessId = usize;

/// A step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A unit passes, and every process that can sends its heartbeat then: a proof if its claim stands, else a
    /// `sync`. These become of them.
    Time([Fate; 3]),
    /// Claims.
    Claim(ProcessId, Fate),
    /// What was held up of its request arrives.
    Release(ProcessId),
    /// ZooKeeper's leader expires its session.
    Expire(ProcessId),
    /// Its client connects again.
    Reconnect(ProcessId),
    /// It gets another session, and stands in the election with it.
    NewSession(ProcessId),
    /// SIGSTOP.
    Pause(ProcessId),
    /// SIGCONT.
    Resume(ProcessId),
    /// SIGKILL.
    Crash(ProcessId),
    /// Its follower is cut off from ZooKeeper's leader.
    CutFollower {
        /// Whose follower.
        of: ProcessId,
        /// The age of the newest touch that it has reported before.
        reported: u8,
    },
    /// ZooKeeper's leader is cut off, and the others have another one at once.
    CutZooKeeperLeader,
    /// The server that is cut off notices, and closes its connections.
    Drop {
        /// Whose connection.
        of: ProcessId,
        /// The client waits as long as it may before it connects again.
        waits: bool,
    },
    /// Packets between a process and its server are dropped, both ways or only the replies.
    Isolate {
        /// Whose.
        of: ProcessId,
        /// Requests arrive.
        one_way: bool,
    },
    /// Packets pass again; the connection has to be made anew.
    Heal {
        /// Whose.
        of: ProcessId,
        /// The client waits as long as it may before it connects again.
        waits: bool,
    },
}

impl Action {
    /// The faults that it is.
    pub fn faults(self) -> impl Iterator<Item = FaultKind> {
        let fates = match self {
            Self::Time(fates) => fates,
            Self::Claim(_, fate) => [fate, Fate::Usual, Fate::Usual],
            _ => [Fate::Usual; 3],
        };
        fates
            .into_iter()
            .filter_map(Fate::fault)
            .chain(self.other_fault())
    }

    const fn other_fault(self) -> Option<FaultKind> {
        match self {
            Self::Pause(_) => Some(FaultKind::Pause),
            Self::Crash(_) => Some(FaultKind::Crash),
            Self::CutFollower { .. } => Some(FaultKind::CutFollower),
            Self::CutZooKeeperLeader => Some(FaultKind::CutZooKeeperLeader),
            Self::Isolate { one_way: false, .. } => Some(FaultKind::Isolate),
            Self::Isolate { one_way: true, .. } => Some(FaultKind::IsolateOneWay),
            Self::Time(_)
            | Self::Claim(..)
            | Self::Release(_)
            | Self::Expire(_)
            | Self::Reconnect(_)
            | Self::NewSession(_)
            | Self::Resume(_)
            | Self::Drop { .. }
            | Self::Heal { .. } => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(fates) => {
                write!(text, "a unit passes, heartbeats are sent")?;
                let spoilt = fates.iter().enumerate().filter(|(_, fate)| **fate != Fate::Usual);
                spoilt
                    .into_iter()
                    .try_for_each(|(id, fate)| write!(text, "; of process {id} {fate}"))
            }
            Self::Claim(id, Fate::Usual) => write!(text, "process {id} claims"),
            Self::Claim(id, fate) => write!(text, "process {id} claims: {fate}"),
            Self::Release(id) => write!(text, "what was held up of process {id} arrives"),
            Self::Expire(id) => write!(text, "ZooKeeper expires the session of process {id}"),
            Self::Reconnect(id) => write!(text, "the client of process {id} connects again"),
            Self::NewSession(id) => write!(text, "process {id} gets a new session and a latch"),
            Self::Pause(id) => write!(text, "process {id} is stopped"),
            Self::Resume(id) => write!(text, "process {id} goes on"),
            Self::Crash(id) => write!(text, "process {id} crashes"),
            Self::CutFollower { of, reported } => write!(
                text,
                "the follower of process {of} is cut off; the newest touch that it has reported is {reported} units old"
            ),
            Self::CutZooKeeperLeader => {
                write!(text, "ZooKeeper's leader is cut off, the others have a new one")
            }
            Self::Drop { of, .. } => write!(text, "the server that is cut off drops process {of}"),
            Self::Isolate { of, one_way: false } => {
                write!(text, "nothing passes between process {of} and its server")
            }
            Self::Isolate { of, one_way: true } => {
                write!(text, "nothing passes from the server to process {of}")
            }
            Self::Heal { of, .. } => write!(text, "packets of process {of} pass again"),
        }
    }
}
