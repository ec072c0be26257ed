use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ha_core::Result;
use ha_core::election::{LeaderElectionEvent, LeaderGrant};
use ha_core::environment::TaskScope;
use ha_core::ids::LeaderSessionId;
use tokio::sync::watch;

use super::contention::{Contention, Next};
use super::information_watch::watch_information;
use super::shared::Command;
use super::unled_components::{forget_unled_components, report_unled_components};
use crate::client::{SessionId, ZkCode};
use crate::fence::FenceRefusal;
use crate::latch::{Claim, LatchNode, OwnNode, OwnNodeChange};
use crate::session::{LeaseProof, SessionClient, SessionStatus};

/// Why a term is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermEnd {
    /// The lease ran out.
    LeaseOver,
    /// The session is over.
    SessionOver,
    /// The latch is gone.
    LatchGone,
    /// Somebody set the latch: a request to step down.
    StepDown,
    /// The connection was suspended, and that is not tolerated.
    Suspended,
    /// The service stops: it revokes by itself, is told of no end, and closes the driver then.
    Stopping,
}

impl TermEnd {
    fn reason(self) -> &'static str {
        match self {
            Self::LeaseOver => "the lease ran out",
            Self::SessionOver => "the ZooKeeper session ended",
            Self::LatchGone => "the latch was deleted",
            Self::StepDown => "the latch was set by another: a request to step down",
            Self::Suspended => "the connection was suspended",
            Self::Stopping => "the election service stops",
        }
    }
}

/// What waiting for the lease came to.
enum Awaited {
    /// It holds.
    Lease,
    /// There is nothing to lead by any more.
    Nothing(Next),
    /// It does not hold although there was time enough.
    TooLong,
}

impl Contention {
    /// Leads by `claim`: waits for the lease, grants, serves the term, and winds it up.
    pub(super) async fn lead(
        &mut self,
        present: &SessionClient,
        mut own: OwnNode,
        claim: Claim,
    ) -> Result<Next> {
        let term = claim.session;
        let fence = claim.fence(&own.node);
        // From the claim on heartbeats are proofs: without a lease yet, they are what brings it.
        self.shared.session.set_proof(Some(LeaseProof {
            fence: fence.clone(),
            refusals: self.shared.fence.clone(),
        }));
        let mut status = self.shared.session.watch_status();
        let connects = status.borrow().connects;
        match self.wait_for_lease(present, &mut own, term, &mut status).await {
            Awaited::Lease => {}
            Awaited::Nothing(next) => {
                self.shared.session.set_proof(None);
                return Ok(next);
            }
            Awaited::TooLong => {
                self.shared.session.set_proof(None);
                return self.give_up_place().await;
            }
        }
        let gate = Arc::clone(self.shared.session.gate());
        let tolerates = self.shared.session.tolerates_suspension();
        let now = *status.borrow();
        if !tolerates && (!now.is_connected() || now.connects != connects) {
            // A term that would be over at once, or that began before this process listed the latches again.
            self.shared.session.set_proof(None);
            return Ok(Next::Again);
        }
        self.latch.note_granted();
        // Stores may write before anybody is told.
        self.shared.fence.granted(fence);
        if !gate.grant(present.lease, term) {
            self.shared.fence.ended(term);
            self.shared.session.set_proof(None);
            return Ok(Next::Again);
        }
        self.lowest = None;
        let end = if self.shared.stopping.load(Ordering::SeqCst) {
            // The service ended leadership before there was any: nobody is told of this term.
            TermEnd::Stopping
        } else {
            self.shared.note_latch(&own.node.path);
            self.shared.tell(LeaderElectionEvent::Granted(LeaderGrant {
                session: term,
                epoch: claim.epoch,
            }));
            self.serve_term(present, &mut own, term, &mut status).await
        };
        // First the flag, then the fence, then the callbacks.
        if gate.current() == Some(term) {
            gate.end_leadership();
        }
        self.shared.fence.ended(term);
        self.shared.session.set_proof(None);
        forget_unled_components(&self.shared);
        self.wind_up(&own.node, term, end).await
    }

    /// Waits until the lease holds. No longer than T on one connection, nor than this process stays lowest without a
    /// grant: those behind wait too, and may have one.
    async fn wait_for_lease(
        &self,
        present: &SessionClient,
        own: &mut OwnNode,
        term: LeaderSessionId,
        status: &mut watch::Receiver<SessionStatus>,
    ) -> Awaited {
        let mut refusals = self.shared.fence.watch_refusals();
        let clock = self.shared.clock();
        loop {
            let before = *status.borrow_and_update();
            let on_one_connection = clock.now() + present.terms.session_timeout();
            let in_all = self.gives_up_at().unwrap_or(on_one_connection);
            let until = on_one_connection.min(in_all);
            tokio::select! {
                biased;
                () = self.closing.cancelled() => return Awaited::Nothing(Next::Leave),
                () = self.shared.session.gate().lease_begun() => return Awaited::Lease,
                _ = own.changed() => return Awaited::Nothing(Next::Again),
                _ = refused(&mut refusals, term) => return Awaited::Nothing(Next::Again),
                () = clock.sleep(until.saturating_since(clock.now())) => {
                    let now = *status.borrow();
                    if in_all <= clock.now() || (now.is_connected() && now.connects == before.connects) {
                        return Awaited::TooLong;
                    }
                }
            }
        }
    }

    /// Serves the term until it is over.
    async fn serve_term(
        &mut self,
        present: &SessionClient,
        own: &mut OwnNode,
        term: LeaderSessionId,
        status: &mut watch::Receiver<SessionStatus>,
    ) -> TermEnd {
        let gate = Arc::clone(self.shared.session.gate());
        let mut refusals = self.shared.fence.watch_refusals();
        let mut connects = status.borrow_and_update().connects;
        let tolerates = self.shared.session.tolerates_suspension();
        let session = own.node.session;
        let mut watched = BTreeSet::new();
        // Dropped at the end of the term, which ends the watches.
        let watches = self.shared.environment.task_scope();
        watch(
            &watches,
            "unled-components",
            report_unled_components(Arc::clone(&self.shared), Arc::clone(&present.client)),
        );
        loop {
            tokio::select! {
                biased;
                () = self.closing.cancelled() => return TermEnd::Stopping,
                () = gate.leadership_ended(term) => {
                    let now = *status.borrow();
                    return self.how_ended(now, session, connects);
                }
                change = own.changed() => return match change {
                    OwnNodeChange::Gone | OwnNodeChange::OfAnotherSession => TermEnd::LatchGone,
                    OwnNodeChange::Touched => TermEnd::StepDown,
                    OwnNodeChange::SessionOver => TermEnd::SessionOver,
                },
                code = refused(&mut refusals, term) => return match code {
                    ZkCode::NoNode => TermEnd::LatchGone,
                    _ => TermEnd::StepDown,
                },
                now = interrupted(status, session, connects, tolerates) => {
                    if now.closed || now.session != Some(session) {
                        return TermEnd::SessionOver;
                    }
                    if !tolerates {
                        return TermEnd::Suspended;
                    }
                    connects = now.connects;
                    own.distrust();
                }
                command = self.commands.recv() => {
                    if let Some(Command::Published(component)) = command
                        && watched.insert(component.clone())
                    {
                        let client = Arc::clone(&present.client);
                        watch(
                            &watches,
                            "leader-information-watch",
                            watch_information(Arc::clone(&self.shared), client, component),
                        );
                    }
                }
                () = self.shared.clock().sleep(present.terms.session_timeout()) => own.distrust(),
            }
        }
    }

    /// Why there is no lease any more, in a term that began after so many connects.
    fn how_ended(&self, now: SessionStatus, session: SessionId, connects: u64) -> TermEnd {
        let shared = &self.shared.session;
        if now.session != Some(session) {
            TermEnd::SessionOver
        } else if !shared.tolerates_suspension() && (!now.is_connected() || now.connects != connects) {
            TermEnd::Suspended
        } else if shared.gate().lease_end().is_none() {
            TermEnd::SessionOver
        } else {
            TermEnd::LeaseOver
        }
    }

    /// What follows a term, once the flag is false.
    async fn wind_up(&mut self, node: &LatchNode, term: LeaderSessionId, end: TermEnd) -> Result<Next> {
        let stopping = self.shared.stopping.load(Ordering::SeqCst);
        let end = if stopping { TermEnd::Stopping } else { end };
        let reason = end.reason();
        tracing::debug!(path = node.path, session = %term, reason, "leadership ended");
        if end == TermEnd::Stopping {
            self.closing.cancelled().await;
            return Ok(Next::Leave);
        }
        self.shared.tell(LeaderElectionEvent::Revoked {
            session: term,
            reason: reason.to_owned(),
        });
        if self.wait_until_revoked(term).await == Next::Leave {
            return Ok(Next::Leave);
        }
        if end == TermEnd::StepDown {
            // Nobody else is granted as long as the latch stands, so what this process published goes with it.
            return self.step_aside().await;
        }
        Ok(Next::Again)
    }

    /// Waits until the service has revoked every contender.
    async fn wait_until_revoked(&mut self, term: LeaderSessionId) -> Next {
        loop {
            tokio::select! {
                biased;
                () = self.closing.cancelled() => return Next::Leave,
                command = self.commands.recv() => match command {
                    Some(Command::Revoked(session)) if session == term => return Next::Again,
                    // Publications of the term that is over, or the answer to an earlier one.
                    Some(_) => {}
                    None => return Next::Leave,
                },
            }
        }
    }
}

/// Starts what watches something until it ends, or the scope does.
fn watch(watches: &TaskScope, name: &'static str, watching: impl Future<Output = ()> + Send + 'static) {
    let cancelled = watches.cancellation();
    watches.spawn(name, async move {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {}
            () = watching => {}
        }
    });
}

/// Completes when the fence of `term` was refused, with the code.
async fn refused(refusals: &mut watch::Receiver<Option<FenceRefusal>>, term: LeaderSessionId) -> ZkCode {
    let of_term =
        |refusal: &Option<FenceRefusal>| refusal.as_ref().is_some_and(|refusal| refusal.session == term);
    if let Ok(refusal) = refusals.wait_for(of_term).await
        && let Some(refusal) = refusal.as_ref()
    {
        return refusal.code;
    }
    std::future::pending().await
}

/// Completes when the connection is not what it was: made again or of another session, or down where that is not
/// tolerated.
async fn interrupted(
    status: &mut watch::Receiver<SessionStatus>,
    session: SessionId,
    connects: u64,
    tolerates: bool,
) -> SessionStatus {
    let changed = status
        .wait_for(|status| {
            status.closed
                || status.session != Some(session)
                || status.connects != connects
                || !(tolerates || status.is_connected())
        })
        .await
        .map(|status| *status);
    match changed {
        Ok(status) => status,
        Err(_) => std::future::pending().await,
    }
}
