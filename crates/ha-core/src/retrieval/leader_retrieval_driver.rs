use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::election::LeaderInformation;
use crate::error::{Error, Result};

/// What a driver read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderObservation {
    /// The leader; `None` when nobody leads.
    pub leader: Option<LeaderInformation>,
    /// Which history of the outside system it was read from: the cluster's uuid, where the backend has one.
    pub history: Option<Uuid>,
}

/// What a driver tells its service, in order.
#[derive(Clone, Debug)]
pub enum LeaderRetrievalEvent {
    /// The state as read after the start, after an event, or after a (re)connect.
    Observed(LeaderObservation),
    /// The connection is down, the session may live.
    Suspended,
    /// The session is gone.
    Lost,
    /// What is there cannot be read. The watch stays armed.
    Unreadable(Error),
    /// Something else failed, and the driver goes on. It says nothing of who leads.
    Error(Error),
}

/// Where a driver sends its events. A closed receiver means that the service is gone.
pub type LeaderRetrievalEvents = mpsc::UnboundedSender<LeaderRetrievalEvent>;

/// The thin part of retrieval that differs between backends.
#[async_trait]
pub trait LeaderRetrievalDriver: Send + Sync + 'static {
    /// Reads again, at least as new as everything that was written before the call (ZooKeeper: `sync`, then
    /// read). Asked for when the last observation went back to an older epoch.
    async fn verify(&self) -> Result<LeaderObservation>;

    /// Stops watching. Idempotent.
    async fn close(&self);
}

/// Makes the driver of a retrieval when it is started.
#[async_trait]
pub trait LeaderRetrievalDriverFactory: Send + Sync + 'static {
    /// Begins to watch; events may be sent before this returns.
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>>;
}
