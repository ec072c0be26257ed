use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ha_core::environment::Clock;
use ha_core::lease::LeaseTerms;
use tokio::sync::watch;

use super::SessionStatus;
use super::activity::Activity;
use super::session_check::{self, Checked};
use crate::client::{MultiError, SessionId, ZkCode, ZooKeeperClient};
use crate::fence::{Fence, LeadershipFence};

/// What the process leads by, while it leads: its heartbeats are proofs then.
#[derive(Clone)]
pub(crate) struct LeaseProof {
    /// The latch at the version of the claim.
    pub(crate) fence: Fence,
    /// Told when the check fails.
    pub(crate) refusals: LeadershipFence,
}

impl LeaseProof {
    fn note(&self, refusal: &MultiError) {
        if let MultiError::Refused { index: 0, error } = refusal
            && matches!(error.code, ZkCode::NoNode | ZkCode::BadVersion)
        {
            self.refusals.refused(self.fence.session, error.code);
        }
    }
}

/// What the heartbeat sends: where the election puts it.
#[derive(Default)]
pub(super) struct ProofSlot {
    present: Mutex<Present>,
}

#[derive(Clone, Default)]
struct Present {
    proof: Option<LeaseProof>,
    /// Where a node may be made to see whose session a connection is of.
    session_check: Option<String>,
}

impl ProofSlot {
    pub(super) fn set(&self, proof: Option<LeaseProof>) {
        self.lock().proof = proof;
    }

    pub(super) fn set_session_check(&self, path: String) {
        self.lock().session_check = Some(path);
    }

    fn get(&self) -> Present {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The heartbeats of one session.
pub(super) struct Heartbeat<'a> {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    pub(super) activity: Arc<Activity>,
    pub(super) slot: &'a ProofSlot,
    pub(super) terms: LeaseTerms,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) status: watch::Receiver<SessionStatus>,
}

impl Heartbeat<'_> {
    /// Sends a heartbeat each T/8, and one as soon as the connection was made again: a `sync` while standing by, a
    /// check of the latch (a transaction that changes no znode, and that only a server with a quorum answers) while
    /// leading. Over a connection that is not known to be of this session it is a question for the session. Never
    /// more than one is on its way, so that they do not pile up while the connection is down. What they say reaches
    /// the lease through the observed client.
    ///
    /// Completes when the server has given the client another session.
    pub(super) async fn beat(mut self) -> SessionId {
        let interval = self.terms.heartbeat_interval();
        loop {
            let sent = self.clock.now();
            let connects = self.status.borrow_and_update().connects;
            let Present { proof, session_check } = self.slot.get();
            // A failure says nothing that the state of the connection does not say too.
            match (proof, session_check) {
                (proof, Some(path)) if !self.activity.is_identified() => {
                    match self.identify(proof.as_ref(), &path).await {
                        Checked::Another(session) => return session,
                        Checked::Elsewhere => continue,
                        Checked::Mine | Checked::Unknown => {}
                    }
                }
                (None, _) => drop(self.client.sync("/").await),
                (Some(proof), _) => {
                    if let Err(refusal) = self.client.multi(vec![proof.fence.check()]).await {
                        proof.note(&refusal);
                    }
                }
            }
            let elapsed = self.clock.now().saturating_since(sent);
            // A failed one may have failed at once: do not spin.
            let wait = interval.saturating_sub(elapsed).max(interval / 8);
            let reconnected = self.status.wait_for(|status| status.connects != connects);
            tokio::select! {
                () = self.clock.sleep(wait) => {}
                Ok(_) = reconnected => {}
            }
        }
    }

    /// Asks for the session of the connection.
    async fn identify(&self, proof: Option<&LeaseProof>, path: &str) -> Checked {
        let connection = self.activity.connection();
        let sent = self.clock.now();
        let fence = proof.map(|proof| &proof.fence);
        match session_check::ask(self.client.as_ref(), fence, path).await {
            Ok(Some(session)) if session != self.client.session_id() => Checked::Another(session),
            Ok(Some(_)) => match connection {
                Some(connection) if self.activity.connection() == Some(connection) => {
                    self.activity.identify(connection);
                    self.activity.proof(sent);
                    Checked::Mine
                }
                // The answer came over a connection that was not there when this began, or is not there any more.
                _ => Checked::Elsewhere,
            },
            Ok(None) => Checked::Unknown,
            Err(refusal) => {
                if let Some(proof) = proof {
                    proof.note(&refusal);
                }
                if let MultiError::Refused { error, .. } = &refusal
                    && !matches!(error.code, ZkCode::NoNode | ZkCode::BadVersion)
                {
                    tracing::warn!(path, %error, "the servers do not say of which session the connection is");
                }
                Checked::Unknown
            }
        }
    }
}
