use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};

use super::listener_slot::ListenerSlot;
use super::retrieval_task::RetrievalTask;
use super::{LeaderRetrievalDriverFactory, LeaderRetrievalListener, LeaderRetrievalService};
use crate::election::LeaderInformation;
use crate::environment::{Environment, TaskScope};
use crate::error::{Error, ErrorKind, Result};
use crate::lifecycle::Lifecycle;

/// How long `stop` waits for a callback to return before this is reported as fatal.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// The retrieval that all backends share: one driver, one listener (design §5).
///
/// It must be used inside a tokio runtime. Dropping it only signals its tasks;
/// [`LeaderRetrievalService::stop`] waits.
pub struct DefaultLeaderRetrievalService {
    factory: Arc<dyn LeaderRetrievalDriverFactory>,
    tolerate_suspended: bool,
    environment: Environment,
    scope: TaskScope,
    leader: Arc<watch::Sender<Option<LeaderInformation>>>,
    lifecycle: Lifecycle<ListenerSlot>,
}

impl DefaultLeaderRetrievalService {
    /// A retrieval that is not started. `tolerate_suspended`: whether the last leader is kept while the
    /// connection is suspended.
    #[expect(
        clippy::new_ret_no_self,
        reason = "it is only ever used as the trait object that the services hand out"
    )]
    pub fn new(
        factory: Arc<dyn LeaderRetrievalDriverFactory>,
        tolerate_suspended: bool,
        environment: Environment,
    ) -> Arc<dyn LeaderRetrievalService> {
        Arc::new(Self {
            factory,
            tolerate_suspended,
            scope: environment.task_scope(),
            environment,
            leader: Arc::new(watch::Sender::new(None)),
            lifecycle: Lifecycle::new("the leader retrieval service"),
        })
    }
}

#[async_trait]
impl LeaderRetrievalService for DefaultLeaderRetrievalService {
    async fn start(&self, listener: Arc<dyn LeaderRetrievalListener>) -> Result<()> {
        let slot = self.lifecycle.start(ListenerSlot::new())?;
        let cancelled = self.scope.cancellation();
        let fatal = Arc::clone(&self.environment.fatal_error_handler);
        let callbacks = Arc::clone(&slot).run(listener, fatal, cancelled.clone());
        self.scope.spawn("leader-listener", callbacks);
        let task = RetrievalTask {
            factory: Arc::clone(&self.factory),
            environment: self.environment.clone(),
            tolerate_suspended: self.tolerate_suspended,
            leader: Arc::clone(&self.leader),
            listener: Arc::clone(&slot),
            cancelled,
        };
        let (started, answer) = oneshot::channel();
        self.scope.spawn("leader-retrieval", task.run(started));
        // A retrieval that was stopped meanwhile answers nothing.
        let result = answer.await.unwrap_or(Ok(()));
        if result.is_err() {
            slot.stop();
            self.lifecycle.start_failed(&slot);
        }
        result
    }

    async fn stop(&self) -> Result<()> {
        let Some(slot) = self.lifecycle.stop() else {
            return Ok(());
        };
        slot.stop();
        self.scope.cancellation().cancel();
        if slot.is_in_callback() {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = slot.finished() => {}
            () = self.environment.clock.sleep(STOP_TIMEOUT) => {
                let error = Error::new(
                    ErrorKind::Internal,
                    format!("the listener has not returned from its callback {STOP_TIMEOUT:?} after stop"),
                );
                self.environment.fatal_error_handler.on_fatal_error(error);
            }
        }
        Ok(())
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.leader.subscribe()
    }
}

#[cfg(test)]
mod tests;
