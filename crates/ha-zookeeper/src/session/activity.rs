use std::sync::Arc;

use ha_core::environment::BootInstant;
use ha_core::lease::{LeadershipGate, LeaseId};
use tokio::sync::watch;

/// Where the client of one session reports what it sees. Reports of a client that was replaced count for nothing:
/// the lease is told by its id, and nobody listens to the losses any more.
pub(super) struct Activity {
    gate: Arc<LeadershipGate>,
    lease: LeaseId,
    /// The send time of the newest operation that failed by loss of the connection.
    losses: watch::Sender<Option<BootInstant>>,
}

impl Activity {
    pub(super) fn new(gate: Arc<LeadershipGate>, lease: LeaseId) -> Self {
        Self {
            gate,
            lease,
            losses: watch::Sender::new(None),
        }
    }

    /// The lease of the session.
    pub(super) fn lease(&self) -> LeaseId {
        self.lease
    }

    /// A request was answered.
    pub(super) fn heartbeat(&self, sent: BootInstant) {
        self.gate.heartbeat_answered(self.lease, sent);
    }

    /// A write was applied.
    pub(super) fn proof(&self, sent: BootInstant) {
        self.gate.proof_answered(self.lease, sent);
    }

    /// An operation failed by loss of the connection. The client's state may have gone down and up again since
    /// anybody looked, but this one was seen to fail.
    pub(super) fn connection_lost(&self, sent: BootInstant) {
        self.losses.send_if_modified(|newest| {
            let newer = newest.is_none_or(|newest| sent > newest);
            if newer {
                *newest = Some(sent);
            }
            newer
        });
    }

    /// Follows the losses.
    pub(super) fn losses(&self) -> watch::Receiver<Option<BootInstant>> {
        self.losses.subscribe()
    }
}
