use std::sync::Arc;
use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::{Error, ErrorKind, Result};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

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
        let mut reported = None;
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
            match Box::pin(self.stand(&present)).await {
                Ok(Next::Leave) => break,
                Ok(Next::Again) => {
                    reported = None;
                    if self.shared.clock().now().saturating_since(began) >= RETRY.0 {
                        backoff.reset();
                        continue;
                    }
                    // Over at once: somebody may go on deleting what is made here.
                }
                Err(error) => self.note(error, &mut reported),
            }
            tokio::select! {
                () = self.closing.cancelled() => break,
                () = self.shared.clock().sleep(backoff.next_delay()) => {}
            }
        }
        let result = self.leave().await;
        self.shared.left.send_replace(Some(result));
    }

    /// Reports a failure once, and not at all while it is only the connection (the session tells of that) or a
    /// tree that is being deleted (it is made again).
    fn note(&self, error: Error, reported: &mut Option<String>) {
        let text = error.to_string();
        if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::NotFound) {
            tracing::debug!(%error, "standing in the election anew");
        } else if reported.as_ref() != Some(&text) {
            *reported = Some(text);
            self.shared.report(error);
        }
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
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    tracing::debug!(%error, "leaving the election");
                    self.shared.clock().sleep(RETRY.0).await;
                }
                result => return result,
            }
        }
    }
}

/// Completes when a driver has left the election, or has ended otherwise.
async fn left(driver: &mut watch::Receiver<Option<Result<()>>>) {
    let _ = driver.wait_for(Option::is_some).await;
}
