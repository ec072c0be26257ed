use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ha_core::environment::BootInstant;
use ha_core::lease::{LeadershipGate, LeaseId};
use tokio::sync::watch;

use super::client_states::ClientStates;
use super::connections::Connections;

/// Where the client of one session reports what it sees. Reports of a client that was replaced count for nothing:
/// the lease is told by its id, and nobody listens to the losses any more.
///
/// Nor does an answer count that came over a connection which is not known to be of this session. A client that
/// connects again by itself accepts whatever session the server gives it, and does not say which; the requests of
/// another session do not keep this one alive, although all of them are answered.
pub(super) struct Activity {
    gate: Arc<LeadershipGate>,
    lease: LeaseId,
    connections: Connections,
    /// The newest connection that is known to be of the session.
    identified: AtomicU64,
    /// The send time of the newest operation that failed by loss of the connection.
    losses: watch::Sender<Option<BootInstant>>,
}

impl Activity {
    /// `states` of a client as it was when it had just been given the session.
    pub(super) fn new(
        gate: Arc<LeadershipGate>,
        lease: LeaseId,
        states: impl ClientStates + 'static,
    ) -> Self {
        Self {
            gate,
            lease,
            connections: Connections::new(states),
            identified: AtomicU64::new(Connections::FIRST),
            losses: watch::Sender::new(None),
        }
    }

    /// The lease of the session.
    pub(super) fn lease(&self) -> LeaseId {
        self.lease
    }

    /// A request was answered.
    pub(super) fn heartbeat(&self, sent: BootInstant) {
        if self.is_identified() {
            self.gate.heartbeat_answered(self.lease, sent);
        }
    }

    /// A write was applied.
    pub(super) fn proof(&self, sent: BootInstant) {
        if self.is_identified() {
            self.gate.proof_answered(self.lease, sent);
        }
    }

    /// Whether the lease holds now.
    pub(super) fn lease_holds(&self) -> bool {
        self.gate.lease_holds()
    }

    /// The connection that stands, by its number.
    pub(super) fn connection(&self) -> Option<u64> {
        self.connections.present()
    }

    /// Whether the connection that stands is known to be of the session.
    pub(super) fn is_identified(&self) -> bool {
        self.connection() == Some(self.identified.load(Ordering::Acquire))
    }

    /// The connection of this number is of the session.
    pub(super) fn identify(&self, connection: u64) {
        self.identified.fetch_max(connection, Ordering::AcqRel);
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
