use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use ha_core::environment::Clock;
use ha_core::lease::LeaseTerms;

use crate::client::{MultiError, ZkCode, ZooKeeperClient};
use crate::fence::{Fence, LeadershipFence};

/// What the process leads by, while it leads: its heartbeats are proofs then.
#[derive(Clone)]
pub(crate) struct LeaseProof {
    /// The latch at the version of the claim.
    pub(crate) fence: Fence,
    /// Told when the check fails.
    pub(crate) refusals: LeadershipFence,
}

/// Where the election puts its [`LeaseProof`] and the heartbeat takes it.
#[derive(Default)]
pub(super) struct ProofSlot {
    proof: Mutex<Option<LeaseProof>>,
}

impl ProofSlot {
    pub(super) fn set(&self, proof: Option<LeaseProof>) {
        *self.proof.lock().unwrap_or_else(PoisonError::into_inner) = proof;
    }

    fn get(&self) -> Option<LeaseProof> {
        self.proof.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends a heartbeat each T/8: a `sync` while standing by, a check of the latch (a transaction that changes no
/// znode, and that only a server with a quorum answers) while leading. Never more than one is on its way, so
/// that they do not pile up while the connection is down. Never ends; what they say reaches the lease through
/// the observed client.
pub(super) async fn beat(
    client: Arc<dyn ZooKeeperClient>,
    slot: &ProofSlot,
    terms: LeaseTerms,
    clock: Arc<dyn Clock>,
) -> Infallible {
    let interval = terms.heartbeat_interval();
    loop {
        let sent = clock.now();
        // A failure says nothing that the state of the connection does not say too.
        match slot.get() {
            None => drop(client.sync("/").await),
            Some(proof) => prove(client.as_ref(), &proof).await,
        }
        let elapsed = clock.now().saturating_since(sent);
        // A failed one may have failed at once: do not spin.
        clock
            .sleep(interval.saturating_sub(elapsed).max(interval / 8))
            .await;
    }
}

async fn prove(client: &dyn ZooKeeperClient, proof: &LeaseProof) {
    if let Err(MultiError::Refused { error, .. }) = client.multi(vec![proof.fence.check()]).await
        && matches!(error.code, ZkCode::NoNode | ZkCode::BadVersion)
    {
        proof.refusals.refused(proof.fence.session, error.code);
    }
}
