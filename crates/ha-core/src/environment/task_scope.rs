use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{FatalErrorHandler, Spawner};
use crate::error::{Error, ErrorKind};

/// Owns tasks: none outlives the scope unnoticed, and a panic is a fatal error with the task's name.
///
/// Dropping the scope only signals cancellation; [`TaskScope::shutdown`] waits.
pub struct TaskScope {
    spawner: Arc<dyn Spawner>,
    fatal: Arc<dyn FatalErrorHandler>,
    cancelled: CancellationToken,
    tracker: TaskTracker,
}

impl TaskScope {
    /// An empty scope.
    pub fn new(spawner: Arc<dyn Spawner>, fatal: Arc<dyn FatalErrorHandler>) -> Self {
        Self {
            spawner,
            fatal,
            cancelled: CancellationToken::new(),
            tracker: TaskTracker::new(),
        }
    }

    /// Signalled when the scope is shut down or dropped; tasks end then.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// Starts a task. It must end by itself soon after [`TaskScope::cancellation`] is signalled.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let fatal = Arc::clone(&self.fatal);
        let guarded = async move {
            if AssertUnwindSafe(task).catch_unwind().await.is_err() {
                fatal.on_fatal_error(Error::new(
                    ErrorKind::Internal,
                    format!("the task {name} panicked"),
                ));
            }
        };
        self.spawner
            .spawn(name, Box::pin(self.tracker.track_future(guarded)));
    }

    /// Signals cancellation and waits until every task has ended. Idempotent. Cancelling the call leaves the
    /// signal in place.
    pub async fn shutdown(&self) {
        self.cancelled.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Drop for TaskScope {
    fn drop(&mut self) {
        self.cancelled.cancel();
    }
}
