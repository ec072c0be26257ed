use std::sync::Arc;
use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::environment::BootInstant;
use ha_core::{Error, ErrorKind, Result};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::failures::Failures;
use super::shared::{Command, Shared};
use crate::identity::LeadershipPrecondition;
use crate::latch::LeaderLatch;

/// Waits after a failure, first and longest. They are short: the requests themselves wait for the connection.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The one task that stands in the election: it alone touches the latch.
pub(super) struct Contention {
    pub(super) shared: Arc<Shared>,
    pub(super) latch: LeaderLatch,
    pub(super) precondition: Arc<dyn LeadershipPrecondition>,
    pub(super) commands: mpsc::UnboundedReceiver<Command>,
    pub(super) closing: CancellationToken,
    /// How the driver before this one left the election, once it has. Never do both stand in it.
    pub(super) before: watch::Receiver<Option<Result<()>>>,
    /// The latch that was found to be the lowest, and since when it has been so without a grant.
    pub(super) lowest: Option<(String, BootInstant)>,
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Stand in the election anew; a node that stands there already is kept.
    Again,
    /// Leave the election.
    Leave,
}

impl Contention {
    pub(super) async fn run(mut self) {
        // Not so long that it would delay a leader beyond what healing may take (I9).
        let longest = RETRY.1.min(self.shared.session.session_timeout() / 4);
        let mut backoff = Backoff::new(RETRY.0, longest);
        let mut failures = Failures::default();
        tokio::select! {
            biased;
            () = self.closing.cancelled() => {}
            () = left(&mut self.before) => {}
        }
        loop {
            let present = tokio::select! {
                biased;
                () = self.closing.cancelled() => break,
                present = self.shared.session.session_client() => present,
            };
            let Ok(present) = present else {
                // The session is closed for good. The service is told when it closes the driver.
                self.closing.cancelled().await;
                break;
            };
            let began = self.shared.clock().now();
            let connection = present.connection();
            let stands = self.latch.may_stand(present.client.as_ref());
            let stood = match self.gives_up_at() {
                Some(at) if stands && at <= began => self.give_up_place().await,
                _ => Box::pin(self.stand(&present)).await,
            };
            match stood {
                Ok(Next::Leave) => break,
                Ok(Next::Again) => {
                    failures.over();
                    if self.shared.clock().now().saturating_since(began) >= RETRY.0 {
                        backoff.reset();
                        continue;
                    }
                    // Over at once: somebody may go on deleting what is made here.
                }
                Err(error) => {
                    let connected = connection.is_some() && present.connection() == connection;
                    if failures.is_to_be_told(&error, connected, self.shared.clock().now()) {
                        self.shared.report(error);
                    } else {
                        tracing::debug!(%error, "standing in the election anew");
                    }
                }
            }
            tokio::select! {
                () = self.closing.cancelled() => break,
                () = self.shared.clock().sleep(backoff.next_delay()) => {}
            }
        }
        let result = self.leave().await;
        self.shared.left.send_replace(Some(result));
    }

    /// The latch of this name is the lowest, so that nobody else leads before it is granted or gone.
    pub(super) fn note_lowest(&mut self, latch: &str) {
        if self.lowest.as_ref().is_none_or(|(lowest, _)| lowest != latch) {
            self.lowest = Some((latch.to_owned(), self.shared.clock().now()));
        }
    }

    /// When the lowest place is left to those behind, whatever keeps this process from being granted, and however
    /// often it stands in the election anew meanwhile.
    pub(super) fn gives_up_at(&self) -> Option<BootInstant> {
        let longest = self.shared.session.session_timeout() * 2;
        self.lowest.as_ref().map(|(_, since)| *since + longest)
    }

    /// Leaves the lowest place to those behind.
    pub(super) async fn give_up_place(&mut self) -> Result<Next> {
        if let Some((latch, since)) = &self.lowest {
            let waited = self.shared.clock().now().saturating_since(*since);
            self.shared.report(
                Error::new(
                    ErrorKind::Unavailable,
                    format!(
                        "this process has been next to lead for {} ms without getting a lease; it leaves its place to \
                         the others",
                        waited.as_millis()
                    ),
                )
                .at(self.shared.paths.latch(latch))
                .advise(
                    "let this process create ephemeral znodes in the parent of the latches and set its own (ACL, quota; \
                     the log says what was refused), and keep its connection to ZooKeeper from being interrupted more \
                     often than every few ticks",
                ),
            );
        }
        self.step_aside().await
    }

    /// Gives the place in the queue up, unless the driver closes meanwhile, which does so too.
    pub(super) async fn step_aside(&mut self) -> Result<Next> {
        let closing = self.closing.clone();
        tokio::select! {
            biased;
            () = closing.cancelled() => Ok(Next::Leave),
            left = self.leave() => left.map(|()| Next::Again),
        }
    }

    /// Deletes what of this driver stands there, as long as it takes; the caller of `close` waits a bounded time.
    async fn leave(&mut self) -> Result<()> {
        left(&mut self.before).await;
        let infos = self.shared.published_paths();
        loop {
            let Ok(present) = self.shared.session.session_client().await else {
                // All of it went with the session.
                return Ok(());
            };
            match self.latch.leave(present.client.as_ref(), &infos).await {
                Ok(()) => {
                    self.lowest = None;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    tracing::debug!(%error, "leaving the election");
                    self.shared.clock().sleep(RETRY.0).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Completes when a driver has left the election, or has ended otherwise.
async fn left(driver: &mut watch::Receiver<Option<Result<()>>>) {
    let _ = driver.wait_for(Option::is_some).await;
}
