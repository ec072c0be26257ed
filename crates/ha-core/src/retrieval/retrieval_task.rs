use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::listener_slot::ListenerSlot;
use super::retrieval_machine::{RetrievalAction, RetrievalMachine};
use super::{LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvent};
use crate::backoff::Backoff;
use crate::election::LeaderInformation;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::guarded::{guarded, guarded_result};

/// The one task of a retrieval: makes the driver, feeds the machine, and does what the machine says. It waits for
/// no callback.
pub(super) struct RetrievalTask {
    pub(super) factory: Arc<dyn LeaderRetrievalDriverFactory>,
    pub(super) environment: Environment,
    pub(super) tolerate_suspended: bool,
    pub(super) leader: Arc<watch::Sender<Option<LeaderInformation>>>,
    pub(super) listener: Arc<ListenerSlot>,
    pub(super) cancelled: CancellationToken,
}

impl RetrievalTask {
    /// Runs until `cancelled`; `started` is answered once the driver is there, or is retried in the background.
    pub(super) async fn run(self, started: oneshot::Sender<Result<()>>) {
        let (events, mut receiver) = mpsc::unbounded_channel();
        let opened = tokio::select! {
            () = self.cancelled.cancelled() => None,
            driver = self.open(&events, started) => driver,
        };
        let Some(driver) = opened else { return };
        let mut machine = RetrievalMachine::new(self.tolerate_suspended);
        loop {
            let actions = tokio::select! {
                biased;
                () = self.cancelled.cancelled() => break,
                // The sender is ours too, so there is always an event to come.
                Some(event) = receiver.recv() => machine.on_event(event),
                // Waits for no event: one that arrives takes its place.
                observation = self.verify(&*driver), if machine.is_verifying() => machine.verified(observation),
            };
            self.apply(actions);
        }
        if let Err(error) = guarded("close of the retrieval driver", driver.close()).await {
            self.environment.fatal_error_handler.on_fatal_error(error);
        }
    }

    /// Makes the driver, and tries again for as long as it may succeed later.
    async fn open(
        &self,
        events: &mpsc::UnboundedSender<LeaderRetrievalEvent>,
        started: oneshot::Sender<Result<()>>,
    ) -> Option<Arc<dyn LeaderRetrievalDriver>> {
        let mut started = Some(started);
        let mut backoff = Backoff::default();
        loop {
            let made = guarded_result(
                "create of the retrieval driver",
                self.factory.create(events.clone()),
            );
            let (answer, driver) = match made.await {
                Ok(driver) => (Ok(()), Some(driver)),
                Err(error) if error.is_retryable() => {
                    self.report(error);
                    (Ok(()), None)
                }
                Err(error) => (Err(error), None),
            };
            let failed = answer.is_err();
            match started.take() {
                Some(started) => {
                    // A caller that went away started all the same.
                    let _ = started.send(answer);
                    if failed {
                        return None;
                    }
                }
                None => {
                    if let Err(error) = answer {
                        self.report(error);
                    }
                }
            }
            if driver.is_some() {
                return driver;
            }
            self.environment.clock.sleep(self.delay(&mut backoff)).await;
        }
    }

    /// Reads again until it can.
    async fn verify(&self, driver: &dyn LeaderRetrievalDriver) -> LeaderObservation {
        let mut backoff = Backoff::default();
        loop {
            match guarded_result("verify of the retrieval driver", driver.verify()).await {
                Ok(observation) => return observation,
                Err(error) => {
                    tracing::debug!(%error, "an older leader could not be verified yet");
                    self.environment.clock.sleep(self.delay(&mut backoff)).await;
                }
            }
        }
    }

    fn delay(&self, backoff: &mut Backoff) -> std::time::Duration {
        let random = self.environment.ids.uuid().as_u64_pair().1;
        backoff.next_delay_with_jitter(random)
    }

    fn apply(&self, actions: Vec<RetrievalAction>) {
        for action in actions {
            match action {
                RetrievalAction::Notify(leader) => {
                    tracing::debug!(?leader, "leader changed");
                    self.leader.send_replace(leader.clone());
                    self.listener.notify(leader);
                }
                RetrievalAction::Report(error) => self.report(error),
            }
        }
    }

    fn report(&self, error: Error) {
        tracing::warn!(%error, "leader retrieval goes on after an error");
        self.listener.report(error);
    }
}
