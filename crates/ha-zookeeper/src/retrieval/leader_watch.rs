use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ha_core::Error;
use ha_core::backoff::Backoff;
use ha_core::environment::Environment;
use ha_core::health::ConnectionState;
use ha_core::retrieval::LeaderRetrievalEvent;
use tokio::sync::watch;

use super::leader_reader::{LeaderReader, Reading, is_refusal};
use super::subscribers::Subscribers;
use crate::client::{NodeEvent, SessionId, ZkCode, ZkError, ZkResult};
use crate::session::{SessionClient, SessionStatus, ZooKeeperSession};

/// The wait after a read that failed.
const RETRY: Duration = Duration::from_millis(100);
/// The longest one where the server refuses to be read again and again.
const LONGEST_RETRY: Duration = Duration::from_secs(5);

/// The task that follows the leader of one component for all its subscribers.
pub(super) struct LeaderWatch {
    session: ZooKeeperSession,
    environment: Environment,
    reader: Arc<LeaderReader>,
    subscribers: Arc<Subscribers>,
    status: watch::Receiver<SessionStatus>,
    /// The state of the connection that the subscribers know of.
    told: ConnectionState,
    /// The session of the last reading.
    read_in: Option<SessionId>,
    /// Why the history was not known at the last reading.
    history_unknown: Option<String>,
}

impl LeaderWatch {
    pub(super) fn new(
        session: ZooKeeperSession,
        environment: Environment,
        reader: Arc<LeaderReader>,
        subscribers: Arc<Subscribers>,
    ) -> Self {
        Self {
            status: session.watch_status(),
            session,
            environment,
            reader,
            subscribers,
            told: ConnectionState::None,
            read_in: None,
            history_unknown: None,
        }
    }

    /// Runs until the session is closed for good.
    pub(super) async fn run(mut self) {
        let mut refused = Backoff::new(RETRY, LONGEST_RETRY);
        while let Some(present) = self.connected().await {
            let connects = self.status.borrow_and_update().connects;
            let wait = match self.follow(&present, connects).await {
                Err(error) if is_refusal(&error) => {
                    // As good as unreadable. Of the connection its state tells more, and what may pass by itself takes
                    // no leader away.
                    let error = self.reader.refused(error);
                    self.subscribers.tell(&LeaderRetrievalEvent::Unreadable(error));
                    refused.next_delay()
                }
                // A client that is over is still handed out for a moment: do not spin.
                Ok(()) => {
                    refused.reset();
                    RETRY
                }
                Err(error) => {
                    tracing::debug!(%error, "could not read the leader information");
                    refused.reset();
                    RETRY
                }
            };
            self.pause(wait).await;
        }
        self.tell_connection(ConnectionState::Lost);
    }

    /// The client, once connected.
    async fn connected(&mut self) -> Option<SessionClient> {
        let session = self.session.clone();
        let connecting = async move { session.session_client().await };
        self.while_telling(connecting).await.ok()
    }

    /// Awaits `work`, and tells of the connection meanwhile: what is sent while it is down waits for it.
    async fn while_telling<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                changed = self.status.changed() => {
                    if changed.is_err() {
                        // The session's owner is gone; the work fails by itself.
                        return work.await;
                    }
                    let state = self.status.borrow().state;
                    self.tell_connection(state);
                }
            }
        }
    }

    /// Reads, and reads again after each event, for as long as this connection lasts.
    async fn follow(&mut self, present: &SessionClient, connects: u64) -> ZkResult<()> {
        let client = present.client.as_ref();
        let reader = Arc::clone(&self.reader);
        self.while_telling(reader.catch_up(client)).await?;
        loop {
            let reading = reader.read_and_watch(client);
            let Reading {
                event,
                watch: mut fired,
                history_unknown,
            } = self.while_telling(reading).await?;
            self.tell_history(history_unknown);
            let session = client.session_id();
            if self.read_in.is_some_and(|earlier| earlier != session) {
                // Lost and replaced between two looks.
                self.tell_connection(ConnectionState::Lost);
            }
            self.read_in = Some(session);
            self.told = ConnectionState::Connected;
            self.subscribers.tell(&event);
            let now = *self.status.borrow_and_update();
            if now.connects != connects {
                // Read on a connection that is not the present one: read again.
                return Ok(());
            }
            // It may have gone down while the answer was on its way.
            self.tell_connection(now.state);
            loop {
                tokio::select! {
                    biased;
                    fired = &mut fired => match fired {
                        NodeEvent::SessionOver => return Err(session_over()),
                        NodeEvent::Changed | NodeEvent::Deleted => break,
                    },
                    changed = self.status.changed() => {
                        let status = *self.status.borrow();
                        if changed.is_err() || status.closed {
                            return Err(session_over());
                        }
                        if status.connects != connects {
                            return Ok(());
                        }
                        self.tell_connection(status.state);
                    }
                }
            }
        }
    }

    /// Tells the subscribers why the history is not known, once for each reason.
    fn tell_history(&mut self, unknown: Option<Error>) {
        let text = unknown.as_ref().map(Error::to_string);
        if text != self.history_unknown
            && let Some(error) = unknown
        {
            self.subscribers.tell(&LeaderRetrievalEvent::Error(error));
        }
        self.history_unknown = text;
    }

    /// Tells the subscribers that the connection is down or lost, once; that it is back is told by a reading.
    fn tell_connection(&mut self, state: ConnectionState) {
        // A loss is not taken back by what comes before the next reading.
        if state == self.told || (self.told == ConnectionState::Lost && state == ConnectionState::Suspended) {
            return;
        }
        match state {
            ConnectionState::Suspended => self.subscribers.tell(&LeaderRetrievalEvent::Suspended),
            ConnectionState::Lost => {
                self.subscribers.tell(&LeaderRetrievalEvent::Lost);
                self.read_in = None;
            }
            ConnectionState::Connected | ConnectionState::None => return,
        }
        self.told = state;
    }

    async fn pause(&mut self, duration: Duration) {
        let clock = Arc::clone(&self.environment.clock);
        self.while_telling(clock.sleep(duration)).await;
    }
}

fn session_over() -> ZkError {
    ZkError::new(ZkCode::SessionOver, "the session is over")
}
