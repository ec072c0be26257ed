use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::health::{ConnectionState, HealthMonitor};
use ha_core::lease::{LeadershipGate, LeaseId, LeaseTerms};
use ha_core::{Error, Result};
use tokio::sync::watch;

use super::activity::Activity;
use super::heartbeat::ProofSlot;
use super::{SessionOptions, SessionStatus};
use crate::client::{SessionId, ZooKeeperClient};

/// How long a close waits for the server while the connection is down.
const CLOSE_WHILE_DOWN: Duration = Duration::from_secs(1);

/// The client of the present session, and what belongs to it.
#[derive(Clone)]
pub(crate) struct SessionClient {
    /// The client.
    pub(crate) client: Arc<dyn ZooKeeperClient>,
    /// The session's lease, to be named when a term is granted.
    pub(crate) lease: LeaseId,
    /// The negotiated times.
    pub(crate) terms: LeaseTerms,
    activity: Arc<Activity>,
}

impl SessionClient {
    /// The connection that stands at this instant, by its number; `None` while there is none. It is at least as new as
    /// every answer that this process has.
    pub(crate) fn connection(&self) -> Option<u64> {
        self.activity.connection()
    }
}

/// What the task of a session and its handles share.
pub(super) struct Shared {
    pub(super) options: SessionOptions,
    pub(super) environment: Environment,
    pub(super) gate: Arc<LeadershipGate>,
    pub(super) proof: ProofSlot,
    pub(super) status: watch::Sender<SessionStatus>,
    pub(super) health: HealthMonitor,
    /// The session of which somebody found that its client was given another one.
    swapped: watch::Sender<Option<SessionId>>,
    present: Mutex<Present>,
}

#[derive(Default)]
struct Present {
    client: Option<SessionClient>,
    /// Of the newest session; kept after its end.
    terms: Option<LeaseTerms>,
    failure: Option<Error>,
}

impl Shared {
    pub(super) fn new(options: SessionOptions, environment: Environment, health: HealthMonitor) -> Self {
        Self {
            gate: Arc::new(LeadershipGate::new(Arc::clone(&environment.clock))),
            options,
            environment,
            proof: ProofSlot::default(),
            status: watch::Sender::new(SessionStatus::INITIAL),
            health,
            swapped: watch::Sender::new(None),
            present: Mutex::default(),
        }
    }

    /// The terms of a session with this negotiated timeout.
    pub(super) fn lease_terms(&self, negotiated: Duration) -> Result<LeaseTerms> {
        LeaseTerms::new(negotiated, self.options.server_tick_time).map_err(|error| {
            error.at(format!(
                "{} (asked for {:?}, the servers granted {negotiated:?})",
                self.options.servers, self.options.session_timeout
            ))
        })
    }

    /// A client is there. The state of its connection is told next.
    pub(super) fn begin(
        &self,
        client: &Arc<dyn ZooKeeperClient>,
        activity: &Arc<Activity>,
        terms: LeaseTerms,
    ) {
        let asked = self.options.session_timeout;
        let first = self.lock().terms.is_none();
        if first && terms.session_timeout() < asked {
            tracing::warn!(
                asked_ms = asked.as_millis(),
                granted_ms = terms.session_timeout().as_millis(),
                "the ZooKeeper servers granted a shorter session timeout than was asked for"
            );
        }
        let mut present = self.lock();
        present.terms = Some(terms);
        present.client = Some(SessionClient {
            client: Arc::clone(client),
            lease: activity.lease(),
            terms,
            activity: Arc::clone(activity),
        });
        drop(present);
        self.status
            .send_modify(|status| status.session = Some(client.session_id()));
    }

    /// Tells a change of the connection.
    pub(super) fn set_state(&self, state: ConnectionState) {
        let changed = self.status.send_if_modified(|status| {
            let changed = std::mem::replace(&mut status.state, state) != state;
            if changed && state == ConnectionState::Connected {
                status.connects += 1;
            }
            changed
        });
        if changed {
            let session = self.status.borrow().session.map(tracing::field::display);
            tracing::info!(?state, session, "ZooKeeper connection");
            if state == ConnectionState::Suspended && !self.options.tolerate_suspended_connections {
                self.forget_answers();
            }
            self.health.set_connection(state);
        }
    }

    /// Where a suspension is not tolerated, what was answered before it is no ground to lead on after it: the term
    /// would be over with the rest of that lease.
    fn forget_answers(&self) {
        let lease = self.lock().client.as_ref().map(|present| present.lease);
        if let Some(lease) = lease {
            self.gate.forget_answers(lease);
        }
    }

    /// The client has come to its end: no lease, no grant, no proofs, nobody gets it any more.
    pub(super) fn session_over(&self) {
        self.end_session();
        self.set_state(ConnectionState::Suspended);
    }

    fn end_session(&self) {
        self.gate.session_ended();
        self.proof.set(None);
        self.lock().client = None;
        self.status.send_modify(|status| status.session = None);
    }

    /// The server has put another session in the place of `session`.
    pub(super) fn note_swapped(&self, session: SessionId) {
        self.swapped.send_replace(Some(session));
    }

    /// Completes when another session was found in the place of `session`.
    pub(super) async fn swapped(&self, session: SessionId) {
        let mut swapped = self.swapped.subscribe();
        // The sender is here.
        let _ = swapped.wait_for(|swapped| *swapped == Some(session)).await;
    }

    /// The session was closed by this process, which is no loss.
    pub(super) fn closed(&self) {
        let session = self.status.borrow().session.map(tracing::field::display);
        tracing::info!(session, "ZooKeeper session closed");
        self.end_session();
        self.status.send_modify(|status| {
            status.state = ConnectionState::Lost;
            status.closed = true;
        });
        self.health.set_connection(ConnectionState::Lost);
    }

    /// There will be no session any more, because of `error`.
    pub(super) fn failed(&self, error: Error) {
        self.lock().failure = Some(error.clone());
        self.closed();
        self.environment.fatal_error_handler.on_fatal_error(error);
    }

    /// The client, while the connection stands.
    pub(super) fn connected_client(&self) -> Option<SessionClient> {
        // The state first: a client that is taken after it is at most newer.
        let connected = self.status.borrow().is_connected();
        connected.then(|| self.lock().client.clone()).flatten()
    }

    /// The error of a use after the end.
    pub(super) fn closed_error(&self) -> Error {
        let failure = self.lock().failure.clone();
        failure.map_or_else(|| Error::closed("the ZooKeeper session"), Error::not_applied)
    }

    /// The timeout of the newest session; what is asked for, before there was one.
    pub(super) fn session_timeout(&self) -> Duration {
        self.lock()
            .terms
            .map_or(self.options.session_timeout, |terms| terms.session_timeout())
    }

    /// How long closing waits for the server.
    pub(super) fn close_bound(&self) -> Duration {
        if self.status.borrow().is_connected() {
            self.session_timeout()
        } else {
            CLOSE_WHILE_DOWN
        }
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        // Only whole values are put in under the lock.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
