use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::LeaderRetrievalListener;
use super::retrieval_machine::is_same_leader;
use crate::election::LeaderInformation;
use crate::environment::FatalErrorHandler;
use crate::error::Error;
use crate::guarded::guarded;

/// Errors that a listener which does not return from a callback is still told of later. They are logged anyway.
const QUEUED_ERRORS: usize = 32;

tokio::task_local! {
    /// The listener whose callback runs, so that a `stop` inside it does not wait for itself.
    static IN_CALLBACK: Arc<ListenerSlot>;
}

/// The mailbox between a retrieval and the callbacks of its listener: the leader that it shall know, not a queue
/// of calls, so that a slow listener is told the latest next.
pub(super) struct ListenerSlot {
    state: Mutex<SlotState>,
    wake: Notify,
    /// Signalled when the last callback has returned.
    finished: CancellationToken,
}

#[derive(Default)]
struct SlotState {
    leader: Option<LeaderInformation>,
    told: Option<LeaderInformation>,
    errors: VecDeque<Error>,
    stopped: bool,
}

enum NextCallback {
    Notify(Option<LeaderInformation>),
    Error(Error),
    End,
}

impl ListenerSlot {
    /// Nothing to tell.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(SlotState::default()),
            wake: Notify::new(),
            finished: CancellationToken::new(),
        }
    }

    /// The leader that the listener shall know.
    pub(super) fn notify(&self, leader: Option<LeaderInformation>) {
        self.change(|state| state.leader = leader);
    }

    /// Tells the listener of an error, after what it is being told of now.
    pub(super) fn report(&self, error: Error) {
        self.change(|state| {
            if state.errors.len() >= QUEUED_ERRORS {
                state.errors.pop_front();
            }
            state.errors.push_back(error);
        });
    }

    /// Lets no further callback begin.
    pub(super) fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Completes when no callback runs and none can begin any more.
    pub(super) async fn finished(&self) {
        self.finished.cancelled().await;
    }

    /// Whether the caller is a callback of this listener.
    pub(super) fn is_in_callback(self: &Arc<Self>) -> bool {
        IN_CALLBACK
            .try_with(|running| Arc::ptr_eq(running, self))
            .unwrap_or(false)
    }

    /// Makes the callbacks, in order, until it is stopped. A panic ends the callback, not the retrieval.
    pub(super) async fn run(
        self: Arc<Self>,
        listener: Arc<dyn LeaderRetrievalListener>,
        fatal: Arc<dyn FatalErrorHandler>,
        cancelled: CancellationToken,
    ) {
        // Also when this task is dropped half-way: whoever stops must not wait for ever.
        let _finished = self.finished.clone().drop_guard();
        loop {
            let next = tokio::select! {
                () = cancelled.cancelled() => return,
                next = self.next() => next,
            };
            let (name, callback) = match next {
                NextCallback::Notify(leader) => {
                    ("notify_leader of the listener", listener.notify_leader(leader))
                }
                NextCallback::Error(error) => ("handle_error of the listener", listener.handle_error(error)),
                NextCallback::End => return,
            };
            let scoped = IN_CALLBACK.scope(Arc::clone(&self), callback);
            if let Err(error) = guarded(name, scoped).await {
                fatal.on_fatal_error(error);
            }
        }
    }

    async fn next(&self) -> NextCallback {
        loop {
            if let Some(next) = self.take_next() {
                return next;
            }
            self.wake.notified().await;
        }
    }

    fn take_next(&self) -> Option<NextCallback> {
        let mut state = self.lock();
        if state.stopped {
            return Some(NextCallback::End);
        }
        if !is_same_leader(state.told.as_ref(), state.leader.as_ref()) {
            state.told = state.leader.clone();
            return Some(NextCallback::Notify(state.leader.clone()));
        }
        state.errors.pop_front().map(NextCallback::Error)
    }

    fn change(&self, apply: impl FnOnce(&mut SlotState)) {
        apply(&mut self.lock());
        self.wake.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        // Every change under the lock is complete, whatever panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
