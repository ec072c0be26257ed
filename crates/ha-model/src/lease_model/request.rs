use std::fmt;

use super::fault_kind::FaultKind;

/// What a process asks of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// A standby's heartbeat.
    Sync,
    /// The heartbeat of a process whose claim stands: a check of its latch.
    Proof,
    /// The claim.
    Claim,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Held up before the server.
    ToServer,
    /// The server has handled it; the reply is held up.
    ToClient,
    /// It is never answered.
    Unanswered,
}

/// The one heartbeat that is on its way: there is never more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// What is asked.
    pub kind: RequestKind,
    /// Where it is.
    pub stage: Stage,
    /// The age of its send time.
    pub sent: u8,
}

/// What becomes of a request that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The server handles it, and answers if it can, at once.
    Usual,
    /// It is held up before the server.
    RequestHeld,
    /// The server handles it, the reply is held up.
    ReplyHeld,
    /// The server handles it, then the connection breaks.
    ReplyLost,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Usual, Self::RequestHeld, Self::ReplyHeld, Self::ReplyLost];

    /// The fault that it is, if it is one.
    pub const fn fault(self) -> Option<FaultKind> {
        match self {
            Self::Usual => None,
            Self::RequestHeld => Some(FaultKind::HoldRequest),
            Self::ReplyHeld => Some(FaultKind::HoldReply),
            Self::ReplyLost => Some(FaultKind::LoseReply),
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Self::Usual => "all goes well",
            Self::RequestHeld => "the request is held up",
            Self::ReplyHeld => "the reply is held up",
            Self::ReplyLost => "the reply is lost, and the connection",
        })
    }
}
