use std::sync::Arc;

use ha_core::environment::{BootInstant, Clock, IdSource};
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
    present: watch::Sender<Present>,
}

#[derive(Clone, Default)]
struct Present {
    proof: Option<LeaseProof>,
    /// What the names of nodes begin with that may be made to see whose session a connection is of.
    session_check: Option<String>,
}

impl ProofSlot {
    pub(super) fn set(&self, proof: Option<LeaseProof>) {
        self.present.send_modify(|present| present.proof = proof);
    }

    pub(super) fn set_session_check(&self, prefix: String) {
        self.present
            .send_modify(|present| present.session_check = Some(prefix));
    }

    fn follow(&self) -> watch::Receiver<Present> {
        self.present.subscribe()
    }
}

/// The heartbeats of one session.
pub(super) struct Heartbeat<'a> {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    pub(super) activity: Arc<Activity>,
    pub(super) slot: &'a ProofSlot,
    pub(super) terms: LeaseTerms,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) status: watch::Receiver<SessionStatus>,
}

impl Heartbeat<'_> {
    /// Sends a heartbeat each T/8, and one as soon as the connection was made again: a `sync` while standing by, a
    /// check of the latch (a transaction that changes no znode, and that only a server with a quorum answers) while
    /// leading. Over a connection that is not known to be of this session it is a question for the session. While
    /// leading, the proof that makes count what a new connection answered first, or brings back a lease, does not wait
    /// for its turn. Never more than one is on its way, so that they do not pile up while the connection is down. What
    /// they say reaches the lease through the observed client.
    ///
    /// Completes when the server has given the client another session.
    pub(super) async fn beat(self) -> SessionId {
        let interval = self.terms.heartbeat_interval();
        let mut slot = self.slot.follow();
        let mut status = self.status.clone();
        // From when on a proof makes count what was answered first.
        let mut counts_at = None;
        loop {
            let sent = self.clock.now();
            let connects = status.borrow_and_update().connects;
            let Present { proof, session_check } = slot.borrow_and_update().clone();
            counts_at = counts_at.filter(|at| *at > sent);
            let leading = proof.is_some();
            // A failure says nothing that the state of the connection does not say too.
            match (proof, session_check) {
                (proof, Some(path)) if !self.activity.is_identified() => {
                    match self.identify(proof.as_ref(), &path).await {
                        Checked::Another(session) => return session,
                        Checked::Elsewhere => continue,
                        Checked::Mine => counts_at = Some(self.clock.now() + self.terms.tick()),
                        Checked::Unknown => {}
                    }
                }
                (None, _) => drop(self.client.sync("/").await),
                (Some(proof), _) => {
                    if let Err(refusal) = self.client.multi(vec![proof.fence.check()]).await {
                        proof.note(&refusal);
                    }
                }
            }
            let answered = self.clock.now();
            if leading && !self.activity.lease_holds() {
                counts_at = counts_at.or(Some(answered + self.terms.tick()));
            }
            // A failed one may have failed at once: do not spin.
            let elapsed = answered.saturating_since(sent);
            let wait = interval.saturating_sub(elapsed).max(interval / 8);
            let early = self.wanted_early(&mut slot, counts_at, answered);
            let reconnected = status.wait_for(|status| status.connects != connects);
            tokio::select! {
                () = self.clock.sleep(wait) => {}
                () = early => {}
                Ok(_) = reconnected => {}
            }
        }
    }

    /// Completes when a proof is wanted and counts, which may be before its time.
    async fn wanted_early(
        &self,
        slot: &mut watch::Receiver<Present>,
        counts_at: Option<BootInstant>,
        answered: BootInstant,
    ) {
        loop {
            let leading = slot.borrow_and_update().proof.is_some();
            let lacking = (!self.activity.lease_holds()).then(|| answered + self.terms.tick());
            if leading && let Some(at) = counts_at.or(lacking) {
                return self.clock.sleep(at.saturating_since(self.clock.now())).await;
            }
            // The sender is here.
            let _ = slot.changed().await;
        }
    }

    /// Asks for the session of the connection. By a node of a name that nobody has: one that somebody left there
    /// would be no answer for ever.
    async fn identify(&self, proof: Option<&LeaseProof>, prefix: &str) -> Checked {
        let path = format!("{prefix}-{}", self.ids.uuid());
        let connection = self.activity.connection();
        let sent = self.clock.now();
        let fence = proof.map(|proof| &proof.fence);
        match session_check::ask(self.client.as_ref(), fence, &path).await {
            Ok(Some(session)) if session != self.client.session_id() => Checked::Another(session),
            Ok(Some(_)) => match connection {
                Some(connection) if self.activity.connection() == Some(connection) => {
                    self.activity.identify(connection);
                    self.activity.proof(sent);
                    Checked::Mine
                }
                // There will be another connection to ask over.
                _ if self.activity.connection().is_none() => Checked::Unknown,
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
