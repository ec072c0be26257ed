use std::fmt;

use super::event_kind::EventKind;

/// A process, by its place in the state.
pub type ProcessId = usize;

/// A step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Looks for its latch, and makes one where there is none.
    Enter(ProcessId),
    /// The same; the latch is made and the reply is lost.
    EnterReplyLost(ProcessId),
    /// Watches its own latch, and lists.
    Look(ProcessId),
    /// Its predecessor is gone: its listing is handled, and the claim is on its way behind it.
    TakeOver(ProcessId),
    /// Its claim is handled.
    Claim(ProcessId),
    /// Its claim is handled; the reply is lost.
    ClaimReplyLost(ProcessId),
    /// Reads back what became of its claim.
    ReadBackClaim(ProcessId),
    /// The lease holds and the claim stands: it is granted.
    Grant(ProcessId),
    /// It is told that its latch is gone or was set by another.
    ReadOwnLatch(ProcessId),
    /// Its task notices that the term is over.
    NoticeTermOver(ProcessId),
    /// Its contenders are revoked, and have returned.
    Revoke(ProcessId),
    /// Deletes its latch.
    Leave(ProcessId),
    /// A leader write is decided.
    Decide(ProcessId),
    /// The leader write is handled.
    Write(ProcessId),
    /// The leader write is handled; the reply is lost.
    WriteReplyLost(ProcessId),
    /// The refusal of its write arrives.
    WriteRefused(ProcessId),
    /// Reads back what became of its write.
    ReadBackWrite(ProcessId),
    /// Its lease runs out.
    LeaseOver(ProcessId),
    /// ZooKeeper expires the session of its client.
    Expire(ProcessId),
    /// ZooKeeper expires the session that its client has given up.
    ExpireGivenUp(ProcessId),
    /// It is told that its session is over.
    LearnExpired(ProcessId),
    /// Its client takes the session for expired.
    GiveUp(ProcessId),
    /// After that it attaches to the session that ZooKeeper still has.
    Reattach(ProcessId),
    /// It gets another session.
    NewSession(ProcessId),
    /// An operator deletes the latch at this place of the queue.
    OperatorDeletes(usize),
    /// An operator sets the latch at this place of the queue: a request to step down.
    OperatorSets(usize),
}

impl Action {
    /// What it is from outside, if it is that.
    pub const fn event(self) -> Option<EventKind> {
        match self {
            Self::LeaseOver(_) => Some(EventKind::LeaseOver),
            Self::Expire(_) => Some(EventKind::Expire),
            Self::GiveUp(_) | Self::Reattach(_) | Self::ExpireGivenUp(_) => Some(EventKind::GiveUp),
            Self::EnterReplyLost(_) | Self::ClaimReplyLost(_) | Self::WriteReplyLost(_) => {
                Some(EventKind::LoseReply)
            }
            Self::OperatorDeletes(_) | Self::OperatorSets(_) => Some(EventKind::Operator),
            _ => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enter(id) => write!(text, "process {id} enters the election"),
            Self::EnterReplyLost(id) => write!(text, "process {id} enters the election, the reply is lost"),
            Self::Look(id) => write!(text, "process {id} lists the latches"),
            Self::TakeOver(id) => write!(
                text,
                "process {id} is told that its predecessor is gone, and lists again"
            ),
            Self::Claim(id) => write!(text, "the claim of process {id} is handled"),
            Self::ClaimReplyLost(id) => {
                write!(text, "the claim of process {id} is handled, the reply is lost")
            }
            Self::ReadBackClaim(id) => write!(text, "process {id} reads back its claim"),
            Self::Grant(id) => write!(text, "process {id} is granted"),
            Self::ReadOwnLatch(id) => write!(text, "process {id} is told that its latch was changed"),
            Self::NoticeTermOver(id) => write!(text, "process {id} notices that its term is over"),
            Self::Revoke(id) => write!(text, "the contenders of process {id} are revoked"),
            Self::Leave(id) => write!(text, "process {id} deletes its latch"),
            Self::Decide(id) => write!(text, "process {id} decides to write"),
            Self::Write(id) => write!(text, "the write of process {id} is handled"),
            Self::WriteReplyLost(id) => {
                write!(text, "the write of process {id} is handled, the reply is lost")
            }
            Self::WriteRefused(id) => write!(text, "process {id} is told that its write was refused"),
            Self::ReadBackWrite(id) => write!(text, "process {id} reads back its write"),
            Self::LeaseOver(id) => write!(text, "the lease of process {id} runs out"),
            Self::Expire(id) => write!(text, "ZooKeeper expires the session of process {id}"),
            Self::ExpireGivenUp(id) => {
                write!(text, "ZooKeeper expires the session that process {id} gave up")
            }
            Self::LearnExpired(id) => write!(text, "process {id} is told that its session is over"),
            Self::GiveUp(id) => write!(text, "the client of process {id} takes its session for expired"),
            Self::Reattach(id) => write!(
                text,
                "process {id} gives up its client and attaches to the session again"
            ),
            Self::NewSession(id) => write!(text, "process {id} gets a new session"),
            Self::OperatorDeletes(place) => write!(text, "an operator deletes latch {place} of the queue"),
            Self::OperatorSets(place) => write!(text, "an operator sets latch {place} of the queue"),
        }
    }
}
