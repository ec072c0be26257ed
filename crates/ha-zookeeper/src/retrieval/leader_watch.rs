use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::health::ConnectionState;
use ha_core::retrieval::LeaderRetrievalEvent;
use tokio::sync::watch;

use super::leader_reader::LeaderReader;
use super::subscribers::Subscribers;
use crate::client::{NodeEvent, SessionId, ZkCode, ZkError};
use crate::session::{SessionClient, SessionStatus, ZooKeeperSession};

/// The wait after a read that failed.
const RETRY: Duration = Duration::from_millis(100);

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
}

impl LeaderWatch {
    pub(super) fn new(
        session: ZooKeeperSession,
        environment: Environment,
        reader: Arc<LeaderReader>,
        subscribers: Arc<Subscribers>,
    ) -> Self {
        Self {
            status: session.status(),
            session,
            environment,
            reader,
            subscribers,
            told: ConnectionState::None,
            read_in: None,
        }
    }

    /// Runs until the session is closed for good.
    pub(super) async fn run(mut self) {
        while let Some(present) = self.connected().await {
            let connects = self.status.borrow_and_update().connects;
            if let Err(code) = self.follow(&present, connects).await
                && code != ZkCode::SessionOver
            {
                // The state of the connection tells more, if there is more to tell.
                tracing::debug!(?code, "could not read the leader information");
            }
            // A client that is over is still handed out for a moment: do not spin.
            self.pause().await;
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
    async fn follow(&mut self, present: &SessionClient, connects: u64) -> Result<(), ZkCode> {
        let client = present.client.as_ref();
        let reader = Arc::clone(&self.reader);
        let code = |error: ZkError| error.code;
        self.while_telling(reader.catch_up(client)).await.map_err(code)?;
        loop {
            let reading = reader.read_and_watch(client);
            let (event, mut fired) = self.while_telling(reading).await.map_err(code)?;
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
                        NodeEvent::SessionOver => return Err(ZkCode::SessionOver),
                        NodeEvent::Changed | NodeEvent::Deleted => break,
                    },
                    changed = self.status.changed() => {
                        let status = *self.status.borrow();
                        if changed.is_err() || status.closed {
                            return Err(ZkCode::SessionOver);
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

    async fn pause(&mut self) {
        let clock = Arc::clone(&self.environment.clock);
        self.while_telling(clock.sleep(RETRY)).await;
    }
}
