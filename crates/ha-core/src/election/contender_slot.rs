use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::announcements::Announcements;
use super::election_message::ElectionMessage;
use super::{LeaderContender, LeaderElectionDriver, LeaderGrant, LeaderInformation};
use crate::error::{Error, Result};
use crate::followed::Followed;
use crate::guarded::panicked;
use crate::ids::{ComponentId, LeaderSessionId};

/// Errors that a contender which does not return from a callback is still told of later. They are logged anyway.
const QUEUED_ERRORS: usize = 32;

/// The mailbox between the election and the callbacks of one contender, and the flag that `has_leadership` reads.
///
/// It holds the state to be reached, not a queue of calls: a term that is over before it could be told of is
/// never told of, and nothing piles up behind a callback that does not return. The flag is part of the same
/// state, so it turns false before the contender can be revoked (I4).
pub(super) struct ContenderSlot {
    pub(super) component: ComponentId,
    /// Its task keeps the contender, until it has left: contenders usually keep their service.
    contender: Weak<dyn LeaderContender>,
    messages: mpsc::UnboundedSender<ElectionMessage>,
    announcements: Announcements,
    state: Mutex<SlotState>,
    wake: Notify,
}

#[derive(Default)]
struct SlotState {
    /// The term that the contender shall lead in.
    target: Option<Target>,
    /// The term whose grant was begun and whose revocation was not.
    delivered: Option<LeaderSessionId>,
    /// The revocation whose end is to be told.
    settle: Option<u64>,
    /// `stop` was called: no grant and no error any more.
    stopping: bool,
    /// No callback may begin any more.
    silenced: bool,
    /// The election has forgotten this contender.
    left: bool,
    errors: VecDeque<Error>,
}

struct Target {
    grant: LeaderGrant,
    driver: Arc<dyn LeaderElectionDriver>,
}

/// What the contender's task does next.
pub(super) enum NextCallback {
    Grant(LeaderGrant),
    Revoke,
    Error(Error),
    /// Tell the election that the callbacks of this revocation have returned.
    Settled(u64),
    End,
}

impl ContenderSlot {
    pub(super) fn new(
        component: ComponentId,
        contender: Weak<dyn LeaderContender>,
        messages: mpsc::UnboundedSender<ElectionMessage>,
        followers: Arc<Followed<Option<LeaderInformation>>>,
    ) -> Self {
        Self {
            component,
            contender,
            messages,
            announcements: Announcements::new(followers),
            state: Mutex::new(SlotState::default()),
            wake: Notify::new(),
        }
    }

    /// Whether the contender leads in the term `session` at this instant.
    pub(super) fn has_leadership(&self, session: LeaderSessionId) -> bool {
        let state = self.lock();
        state.delivered == Some(session)
            && state.target.as_ref().is_some_and(|target| {
                target.grant.session == session && target.driver.has_leadership(session)
            })
    }

    /// The address that the contender reports.
    ///
    /// # Errors
    /// `Closed` when it has left; `Internal` when it panics.
    pub(super) fn address(&self) -> Result<String> {
        let contender = self.contender.upgrade();
        let contender = contender.ok_or_else(|| Error::closed("the leader election service"));
        contender
            .and_then(|contender| {
                catch_unwind(AssertUnwindSafe(|| contender.address()))
                    .map_err(|_| panicked("address of the contender"))
            })
            .map_err(|error| error.at(self.component.as_str()))
    }

    /// Whether it stands in the election that this channel leads to.
    pub(super) fn belongs_to(&self, election: &mpsc::UnboundedSender<ElectionMessage>) -> bool {
        self.messages.same_channel(election)
    }

    /// Tells the election that the callbacks of this revocation have returned. An election that is gone needs
    /// no telling.
    pub(super) fn settled(self: &Arc<Self>, round: u64) {
        let _ = self
            .messages
            .send(ElectionMessage::Settled(Arc::clone(self), round));
    }

    /// Begins to stop, at once and for good: the flag is false from here on.
    pub(super) fn begin_stop(&self) {
        self.change(|state, _| {
            state.stopping = true;
            state.errors.clear();
        });
        self.clear_target();
    }

    /// Lets no further callback begin.
    pub(super) fn silence(&self) {
        self.change(|state, _| state.silenced = true);
    }

    /// The election has forgotten this contender: its task ends.
    pub(super) fn leave(&self) {
        self.clear_target();
        self.change(|state, _| state.left = true);
    }

    /// A term begins, which the contender is told of once it was revoked of every earlier one.
    pub(super) fn grant(&self, grant: LeaderGrant, driver: Arc<dyn LeaderElectionDriver>) {
        self.clear_target();
        self.change(|state, _| {
            if !state.stopping {
                state.target = Some(Target { grant, driver });
                state.settle = None;
            }
        });
    }

    /// The term is over; `round` is told back once no callback of it runs or is owed.
    pub(super) fn revoke(&self, round: u64) {
        self.clear_target();
        self.change(|state, _| state.settle = Some(round));
    }

    /// Lets the followers of this service see how the contender leads, while it does; soon.
    pub(super) fn announce(&self, leader: LeaderInformation) {
        self.change(|state, announcements| {
            if state.target.as_ref().map(|target| target.grant.session) == Some(leader.leader_session_id) {
                announcements.announce(Some(leader));
            }
        });
    }

    /// Completes when the followers of this service can see what was announced by now. One that does not let go of
    /// what it borrowed keeps this waiting, and nothing else. May be dropped at any time.
    pub(super) async fn seen(&self) {
        self.announcements.seen().await;
    }

    /// Shows the followers of this service what is announced, until `ended`.
    pub(super) async fn show_announcements(&self, ended: CancellationToken) {
        self.announcements.run(ended).await;
    }

    /// Tells the contender of an error, after what it is being told of now.
    pub(super) fn report(&self, error: Error) {
        self.change(|state, _| {
            if !state.stopping {
                if state.errors.len() >= QUEUED_ERRORS {
                    state.errors.pop_front();
                }
                state.errors.push_back(error);
            }
        });
    }

    /// Waits for what is to be done next, and notes that it is begun.
    pub(super) async fn next(&self) -> NextCallback {
        loop {
            if let Some(next) = self.take_next() {
                return next;
            }
            self.wake.notified().await;
        }
    }

    fn take_next(&self) -> Option<NextCallback> {
        let mut state = self.lock();
        if state.silenced {
            state.delivered = None;
        }
        let target = state.target.as_ref().map(|target| target.grant);
        if let Some(delivered) = state.delivered {
            if target.is_none_or(|grant| grant.session != delivered) {
                state.delivered = None;
                return Some(NextCallback::Revoke);
            }
        } else if let Some(round) = state.settle.take() {
            return Some(NextCallback::Settled(round));
        } else if let Some(grant) = target
            && !state.silenced
        {
            state.delivered = Some(grant.session);
            return Some(NextCallback::Grant(grant));
        }
        if state.left {
            return Some(NextCallback::End);
        }
        if state.silenced {
            return None;
        }
        state.errors.pop_front().map(NextCallback::Error)
    }

    /// Ends the term for `has_leadership`, and for followers of this service before the contender is told.
    fn clear_target(&self) {
        self.change(|state, announcements| {
            if state.target.take().is_some() {
                announcements.announce(None);
            }
        });
    }

    fn change(&self, apply: impl FnOnce(&mut SlotState, &Announcements)) {
        apply(&mut self.lock(), &self.announcements);
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        // Every change under the lock is complete, whatever panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
