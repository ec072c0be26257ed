use std::sync::Arc;

use tokio::sync::oneshot;

use super::contender_slot::ContenderSlot;
use super::{LeaderContender, LeaderElectionDriver, LeaderInformation};
use crate::error::Result;
use crate::ids::{ComponentId, LeaderSessionId};

/// What the election's task is told, by callers and by the tasks that it started. Order holds within this one
/// channel.
pub(super) enum ElectionMessage {
    Start {
        slot: Arc<ContenderSlot>,
        contender: Arc<dyn LeaderContender>,
        reply: oneshot::Sender<Result<()>>,
    },
    /// `reply` is `None` for a `stop` inside a callback of this contender.
    Stop {
        slot: Arc<ContenderSlot>,
        reply: Option<oneshot::Sender<Result<()>>>,
    },
    Confirm {
        slot: Arc<ContenderSlot>,
        session: LeaderSessionId,
        address: String,
        reply: oneshot::Sender<Result<bool>>,
    },
    /// `reply` is `None` for a `close` inside a callback of a contender.
    Close {
        reply: Option<oneshot::Sender<Result<()>>>,
    },
    /// The callbacks of the revocation of this number have returned.
    Settled(Arc<ContenderSlot>, u64),
    DriverOpened(Result<Arc<dyn LeaderElectionDriver>>),
    DriverClosed(Result<()>),
    Published {
        component: ComponentId,
        write: u64,
        information: LeaderInformation,
        result: Result<()>,
    },
    Withdrawn {
        component: ComponentId,
        result: Result<()>,
    },
    Cleared {
        component: ComponentId,
        result: Result<()>,
    },
}
