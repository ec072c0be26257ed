use super::stamp::Stamp;
use super::task::{Known, Task};

/// The session of a process's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Session {
    /// ZooKeeper has it.
    Alive,
    /// ZooKeeper has expired it, and the process does not know.
    Expired,
    /// The process has none.
    None,
}

/// A term that was granted, with what its writes are fenced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant {
    /// Its id.
    pub term: Stamp,
    /// The zxid of its claim.
    pub claimed: Stamp,
    /// Its latch at the version of the grant.
    pub fence: Known,
}

/// A leader write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write {
    /// Its write id.
    pub id: Stamp,
    /// The term that it was decided in.
    pub grant: Grant,
    /// Where it is.
    pub stage: WriteStage,
}

/// Where a leader write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteStage {
    /// Not at the server yet.
    Sent,
    /// Refused at its check; the reply is on its way.
    Refused,
    /// The reply was lost.
    InDoubt {
        /// What became of it.
        applied: bool,
    },
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// Its session.
    pub session: Session,
    /// Its latch.
    pub latch: Option<Known>,
    /// What stands in the election.
    pub task: Task,
    /// The present term, as long as the lease holds.
    pub grant: Option<Grant>,
    /// The term that its contenders were granted and are not revoked from.
    pub told: Option<Stamp>,
    /// A leader write. It may be sent long after the term in which it was decided.
    pub write: Option<Write>,
}

impl Process {
    /// A process with a session.
    pub const STARTED: Self = Self {
        session: Session::Alive,
        latch: None,
        task: Task::Enter,
        grant: None,
        told: None,
        write: None,
    };

    /// What `has_leadership` says.
    pub const fn has_leadership(&self) -> bool {
        self.grant.is_some()
    }

    /// The term is over: first the flag, then, where they were told of it, the contenders.
    pub fn end_term(&mut self, step_down: bool) {
        self.grant = None;
        self.task = if self.told.is_some() {
            Task::Revoke { step_down }
        } else if step_down {
            Task::Leave
        } else {
            Task::Enter
        };
    }
}
