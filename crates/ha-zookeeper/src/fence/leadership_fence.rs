use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ha_core::ids::LeaderSessionId;
use ha_core::{Error, Follower, Result};
use tokio::sync::watch;

use super::Fence;
use crate::client::ZkCode;

/// A write was refused because its term is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceRefusal {
    /// The term that the write belonged to.
    pub session: LeaderSessionId,
    /// `NoNode`: the latch is gone. `BadVersion`: it was set by somebody else, or by a later claim.
    pub code: ZkCode,
}

/// What stores may write, as the election of the same services object says. Clones share one state.
///
/// A services object that ever started an election is fenced for life, after `stop` too (design §8); named
/// elections do not count.
#[derive(Clone, Debug)]
pub struct LeadershipFence {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    refusals: watch::Sender<Option<FenceRefusal>>,
}

#[derive(Debug)]
enum State {
    NeverStarted,
    NotLeading,
    Leading(Fence),
}

impl Default for LeadershipFence {
    fn default() -> Self {
        Self::new()
    }
}

impl LeadershipFence {
    /// The state of services that never started an election.
    pub fn new() -> Self {
        Self {
            inner: Arc::new(Inner {
                state: Mutex::new(State::NeverStarted),
                refusals: watch::Sender::new(None),
            }),
        }
    }

    /// Election side: from now on writes happen only while leading.
    pub fn election_started(&self) {
        let mut state = self.state();
        if matches!(*state, State::NeverStarted) {
            *state = State::NotLeading;
        }
    }

    /// Election side: a term began. To be called before the grant is told to anybody.
    pub fn granted(&self, fence: Fence) {
        *self.state() = State::Leading(fence);
    }

    /// Election side: the term is over; that of a later grant stays. To be called before anybody is revoked.
    pub fn ended(&self, session: LeaderSessionId) {
        let mut state = self.state();
        if matches!(&*state, State::Leading(fence) if fence.session == session) {
            *state = State::NotLeading;
        }
    }

    /// Election side: is told when a write of a term was refused at its check. Always the latest.
    pub fn refusals(&self) -> Follower<Option<FenceRefusal>> {
        Follower::new(self.watch_refusals())
    }

    /// As [`refusals`](Self::refusals), for tasks of this crate, which borrow for no longer than it takes to copy.
    pub(crate) fn watch_refusals(&self) -> watch::Receiver<Option<FenceRefusal>> {
        self.inner.refusals.subscribe()
    }

    /// Store side: the fence of the present term; `None` when these services never started an election.
    ///
    /// # Errors
    /// `NotLeader` (not applied) when they did, and do not lead now.
    pub fn current(&self) -> Result<Option<Fence>> {
        match &*self.state() {
            State::NeverStarted => Ok(None),
            State::Leading(fence) => Ok(Some(fence.clone())),
            State::NotLeading => Err(Error::not_leader(
                "this process takes part in the election and does not lead",
            )),
        }
    }

    /// Store side: the check of a write of `session` failed with `code`.
    pub(crate) fn refused(&self, session: LeaderSessionId, code: ZkCode) {
        self.inner
            .refusals
            .send_replace(Some(FenceRefusal { session, code }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is one value that is replaced whole, so a panic elsewhere cannot have torn it.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use ha_core::ErrorKind;
    use uuid::Uuid;

    use super::*;
    use crate::client::SessionId;

    fn fence(term: u128) -> Fence {
        Fence {
            latch_path: "/l".to_owned(),
            version: 3,
            session: LeaderSessionId::from_uuid(Uuid::from_u128(term)),
            zookeeper_session: SessionId(1),
        }
    }

    #[test]
    fn is_fenced_for_life_once_an_election_was_started() {
        let shared = LeadershipFence::new();
        assert_eq!(shared.current().unwrap(), None);
        shared.election_started();
        assert_eq!(shared.current().unwrap_err().kind(), ErrorKind::NotLeader);
        shared.granted(fence(1));
        shared.election_started();
        assert_eq!(shared.clone().current().unwrap(), Some(fence(1)));
        shared.ended(fence(1).session);
        assert!(shared.current().unwrap_err().is_safe_to_repeat());
    }

    #[test]
    fn the_end_of_an_earlier_term_leaves_the_present_one() {
        let shared = LeadershipFence::new();
        shared.granted(fence(2));
        shared.ended(fence(1).session);
        assert_eq!(shared.current().unwrap(), Some(fence(2)));
    }

    #[test]
    fn refusals_reach_the_election() {
        let shared = LeadershipFence::new();
        let mut refusals = shared.refusals();
        assert!(refusals.latest().is_none());
        shared.refused(fence(1).session, ZkCode::NoNode);
        let seen = refusals.latest().unwrap();
        assert_eq!((seen.session, seen.code), (fence(1).session, ZkCode::NoNode));
    }
}
