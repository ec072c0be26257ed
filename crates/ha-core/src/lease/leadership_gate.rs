use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{Lease, LeaseTerms};
use crate::environment::{BootInstant, Clock};
use crate::ids::LeaderSessionId;

/// Which session's lease is meant, so that a late answer of an earlier session counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseId(u64);

/// Answers `has_leadership`: the lease of the present session and the current grant, behind one lock that is
/// held for no I/O, with the clock read inside it at each question.
///
/// - A grant is over from the very instant its lease is over, whether or not anybody noticed.
/// - A grant that is over is never revived: a lease renewed later serves only the next grant.
/// - The end of a session ends its grant.
///
/// It is shared by the session (which tells it of requests) and the election (grants).
pub struct LeadershipGate {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Told whenever the end of the current grant may have moved.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    sessions: u64,
    lease: Option<Lease>,
    grant: Option<LeaderSessionId>,
    /// The newest term that is over, and the first instant at which it was.
    ended: Option<(LeaderSessionId, BootInstant)>,
}

impl State {
    fn lease_id(&self) -> LeaseId {
        LeaseId(self.sessions)
    }

    fn lease_holds(&self, now: BootInstant) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.holds(now))
    }

    /// Ends a grant whose lease ran out. Called before anything is changed or read, so that no renewal can
    /// hide that the lease was over.
    fn settle(&mut self, now: BootInstant) {
        if !self.lease_holds(now) {
            let end = self.lease.as_ref().and_then(Lease::end).unwrap_or(now);
            self.end_grant(end);
        }
    }

    fn end_grant(&mut self, at: BootInstant) -> Option<LeaderSessionId> {
        let grant = self.grant.take();
        self.ended = grant.map(|session| (session, at)).or(self.ended);
        grant
    }

    fn begin_session(&mut self, lease: Lease, now: BootInstant) -> LeaseId {
        self.end_grant(now);
        self.sessions += 1;
        self.lease = Some(lease);
        self.lease_id()
    }
}

impl LeadershipGate {
    /// A gate without a session.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Mutex::new(State::default()),
            changed: watch::Sender::new(()),
        }
    }

    /// A session was created; `connect_called` is the time before `connect` was called. Ends any grant.
    pub fn session_created(&self, terms: LeaseTerms, connect_called: BootInstant) -> LeaseId {
        self.change(|state, now| state.begin_session(Lease::of_created_session(terms, connect_called), now))
    }

    /// Another client was attached to a session: it starts without a lease. Ends any grant.
    pub fn session_reattached(&self, terms: LeaseTerms) -> LeaseId {
        self.change(|state, now| state.begin_session(Lease::of_reattached_session(terms), now))
    }

    /// Nothing that was answered so far counts any more for the lease `lease_id`, as if its client had just been
    /// attached to the session. Ends any grant.
    pub fn forget_answers(&self, lease_id: LeaseId) {
        self.change(|state, now| {
            if state.lease_id() == lease_id
                && let Some(lease) = state.lease.take()
            {
                state.end_grant(now);
                state.lease = Some(Lease::of_reattached_session(lease.terms()));
            }
        });
    }

    /// There is no session any more. Ends any grant.
    pub fn session_ended(&self) {
        self.change(|state, now| {
            state.end_grant(now);
            state.sessions += 1;
            state.lease = None;
        });
    }

    /// A request that was handed to the client of this lease at `sent` (taken before) has just been answered.
    pub fn heartbeat_answered(&self, lease_id: LeaseId, sent: BootInstant) {
        self.answered(lease_id, |lease, now| lease.heartbeat_answered(sent, now));
    }

    /// A transaction that was handed to the client of this lease at `sent` (taken before) has just been
    /// answered. It is a heartbeat as well.
    pub fn proof_answered(&self, lease_id: LeaseId, sent: BootInstant) {
        self.answered(lease_id, |lease, now| lease.proof_answered(sent, now));
    }

    /// Begins the term `session` if the lease `lease_id` holds now. `false`: it does not, and nothing is granted.
    pub fn grant(&self, lease_id: LeaseId, session: LeaderSessionId) -> bool {
        self.change(|state, now| {
            let granted = state.lease_id() == lease_id && state.lease_holds(now);
            if granted {
                state.end_grant(now);
                state.grant = Some(session);
            }
            granted
        })
    }

    /// Ends the current term for good; which one it was, if one stood. From here on
    /// [`LeadershipGate::has_leadership`] is false until another grant.
    pub fn end_leadership(&self) -> Option<LeaderSessionId> {
        self.change(State::end_grant)
    }

    /// Whether `session` is the current term and the lease holds at this instant. Never blocks for long.
    pub fn has_leadership(&self, session: LeaderSessionId) -> bool {
        self.look(|state, _| state.grant == Some(session))
    }

    /// The first instant at which `session` was not the current term any more, where it is the newest one that is
    /// over: the end of its lease, if that ran out, whenever this was noticed.
    pub fn ended_at(&self, session: LeaderSessionId) -> Option<BootInstant> {
        self.look(|state, _| {
            state
                .ended
                .filter(|(ended, _)| *ended == session)
                .map(|(_, at)| at)
        })
    }

    /// The current term, at this instant.
    pub fn current(&self) -> Option<LeaderSessionId> {
        self.look(|state, _| state.grant)
    }

    /// Whether the lease holds at this instant, with or without a grant.
    pub fn lease_holds(&self) -> bool {
        self.look(|state, now| state.lease_holds(now))
    }

    /// The first instant at which the lease holds no more, as far as is known now.
    pub fn lease_end(&self) -> Option<BootInstant> {
        self.look(|state, _| state.lease.as_ref().and_then(Lease::end))
    }

    /// Completes once the term `session` is over: its lease ran out, it was ended, or another one stands.
    ///
    /// It is woken by the clock, so it may be late where the process was stopped; the flag is not. May be
    /// dropped at any time.
    pub async fn leadership_ended(&self, session: LeaderSessionId) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let remaining = self.look(|state, now| {
                let end = state.lease.as_ref().and_then(Lease::end)?;
                (state.grant == Some(session)).then(|| end.saturating_since(now))
            });
            let Some(remaining) = remaining else { return };
            tokio::select! {
                () = self.clock.sleep(remaining) => {}
                // The sender is ours, so it is not gone.
                _ = changed.changed() => {}
            }
        }
    }

    /// Completes once the lease of the present session, or of a later one, holds. May be dropped at any time.
    pub async fn lease_begun(&self) {
        let mut changed = self.changed.subscribe();
        while !self.lease_holds() {
            // The sender is ours, so it is not gone.
            let _ = changed.changed().await;
        }
    }

    fn answered(&self, lease_id: LeaseId, note: impl FnOnce(&mut Lease, BootInstant)) {
        self.change(|state, now| {
            if state.lease_id() == lease_id
                && let Some(lease) = &mut state.lease
            {
                note(lease, now);
            }
        });
    }

    fn change<T>(&self, apply: impl FnOnce(&mut State, BootInstant) -> T) -> T {
        let result = self.look(apply);
        self.changed.send_replace(());
        result
    }

    fn look<T>(&self, at: impl FnOnce(&mut State, BootInstant) -> T) -> T {
        let mut state = self.lock();
        // Inside the lock, so that no later reading has decided anything before this one.
        let now = self.clock.now();
        state.settle(now);
        at(&mut state, now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic half-way through a change runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
