use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::component_election::ComponentElection;
use super::contender_task::in_callback;
use super::election_message::ElectionMessage;
use super::election_task::ElectionTask;
use super::{LeaderElectionDriverFactory, LeaderElectionService};
use crate::environment::{Environment, TaskScope};
use crate::error::{Error, Result};
use crate::ids::ComponentId;

/// The election of one process: all components that it runs share one driver, its leadership, and one session
/// id a grant (design §4).
///
/// The driver is made when the first contender starts and closed after the last has stopped. Each contender's
/// callbacks run on a task of their own, in order, so that one that does not return delays neither the flag nor
/// the others. It must be used inside a tokio runtime.
///
/// Dropping it and all its handles only signals the tasks; [`DefaultLeaderElectionService::close`] waits.
pub struct DefaultLeaderElectionService {
    messages: mpsc::UnboundedSender<ElectionMessage>,
    /// The task, until the first contender starts.
    unstarted: Mutex<Option<ElectionTask>>,
    scope: TaskScope,
}

impl DefaultLeaderElectionService {
    /// An election that nobody has entered. `revoke_timeout` is how long callbacks may take to return from a
    /// revocation before it is reported as fatal and leadership is given up all the same.
    pub fn new(
        factory: Arc<dyn LeaderElectionDriverFactory>,
        environment: Environment,
        revoke_timeout: Duration,
    ) -> Arc<Self> {
        let (messages, receiver) = mpsc::unbounded_channel();
        let scope = environment.task_scope();
        let task = ElectionTask::new(factory, environment, revoke_timeout, messages.clone(), receiver);
        Arc::new(Self {
            messages,
            unstarted: Mutex::new(Some(task)),
            scope,
        })
    }

    /// A fresh, not yet started service for one component. Only one of a component can be started at a time;
    /// starting another is `AlreadyExists`.
    pub fn election(self: &Arc<Self>, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        Arc::new(ComponentElection::new(Arc::clone(self), component))
    }

    /// Stops every contender as [`LeaderElectionService::stop`] does, and gives up leadership. What is started
    /// afterwards is `Closed`. Idempotent. May be awaited inside a callback; it does not wait there.
    ///
    /// # Errors
    /// `Unavailable` when leadership could not be given up in the outside system; it ends there with the
    /// session.
    ///
    /// # Cancellation
    /// A cancelled close goes on in the background.
    pub async fn close(&self) -> Result<()> {
        if self.take_unstarted().is_some() {
            return Ok(());
        }
        let messages = &self.messages;
        let inside = in_callback(|running| {
            let ours = running.belongs_to(messages);
            if ours {
                running.silence();
            }
            ours
        });
        if inside {
            let _ = messages.send(ElectionMessage::Close { reply: None });
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        match messages.send(ElectionMessage::Close { reply: Some(reply) }) {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }

    /// Sends to the task, which is started where it was not.
    ///
    /// # Errors
    /// `Closed` when the election was closed.
    pub(super) fn send(&self, message: ElectionMessage) -> Result<()> {
        if let Some(task) = self.take_unstarted() {
            let cancelled = self.scope.cancellation();
            self.scope.spawn("leader-election", task.run(cancelled));
        }
        self.messages.send(message).map_err(|_| self.closed())
    }

    pub(super) fn messages(&self) -> mpsc::UnboundedSender<ElectionMessage> {
        self.messages.clone()
    }

    pub(super) fn closed(&self) -> Error {
        Error::closed("the leader election")
    }

    fn take_unstarted(&self) -> Option<ElectionTask> {
        self.unstarted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

#[cfg(test)]
mod tests;
