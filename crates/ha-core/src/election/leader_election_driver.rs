use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc;

use super::LeaderInformation;
use crate::environment::BootInstant;
use crate::error::{Error, Result};
use crate::ids::{ComponentId, Epoch, LeaderSessionId};

/// A term of leadership that a backend granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderGrant {
    /// The id of the term.
    pub session: LeaderSessionId,
    /// The number of the term.
    pub epoch: Epoch,
}

/// What a driver tells its service, in order.
#[derive(Clone, Debug)]
pub enum LeaderElectionEvent {
    /// This process leads.
    Granted(LeaderGrant),
    /// It leads no more; `has_leadership` has been false since before this event. The service revokes every
    /// contender and then calls [`LeaderElectionDriver::revoked`].
    Revoked {
        /// The term that is over.
        session: LeaderSessionId,
        /// Why, for the log.
        reason: String,
    },
    /// The published information of a component changed, by whomever; `None` when it is not there or
    /// unreadable. Sent only while leading.
    InformationChanged {
        /// The component.
        component: ComponentId,
        /// What is there now.
        information: Option<LeaderInformation>,
    },
    /// Something failed that the driver goes on after.
    Error(Error),
}

/// Where a driver sends its events. A closed receiver means that the service is gone.
pub type LeaderElectionEvents = mpsc::UnboundedSender<LeaderElectionEvent>;

/// The thin part of an election that differs between backends. Policy lives in the service.
#[async_trait]
pub trait LeaderElectionDriver: Send + Sync + 'static {
    /// Whether the term `session` is the current one and its lease holds now. Must not block.
    fn has_leadership(&self, session: LeaderSessionId) -> bool;

    /// Where the newest term was granted, for the log: a znode, for example. Must not block.
    fn location(&self) -> Option<String> {
        None
    }

    /// The first instant at which the term `session` was over, for the log, where it is the newest that is and the
    /// driver knows. Must not block.
    fn ended_at(&self, session: LeaderSessionId) -> Option<BootInstant> {
        let _ = session;
        None
    }

    /// Writes the leader information of a component, fenced by its grant.
    ///
    /// # Errors
    /// `NotLeader` when the term is over; `Invalid` when the information is too long; `Unavailable`.
    async fn publish(&self, component: &ComponentId, information: &LeaderInformation) -> Result<()>;

    /// Removes this process's leader information of a component, fenced by the current grant. A missing one,
    /// or one of somebody else, is left.
    async fn withdraw(&self, component: &ComponentId) -> Result<()>;

    /// Makes [`LeaderElectionDriver::has_leadership`] false for good in the current term, before the contenders
    /// are revoked because the service stops. No event follows. Must not block.
    fn end_leadership(&self);

    /// Every contender was revoked (or the deadline passed) after [`LeaderElectionEvent::Revoked`]: the driver
    /// may give up what is left of the term, and contends anew.
    async fn revoked(&self, session: LeaderSessionId);

    /// Leaves the election and gives up leadership. Idempotent.
    async fn close(&self) -> Result<()>;
}

/// Makes the driver of an election when its first contender starts.
#[async_trait]
pub trait LeaderElectionDriverFactory: Send + Sync + 'static {
    /// Enters the election; events may be sent before this returns.
    async fn create(&self, events: LeaderElectionEvents) -> Result<Arc<dyn LeaderElectionDriver>>;
}
