//! A session on the server in memory, for tests of what is built on [`ZooKeeperSession`].

use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::health::{ConnectionState, HealthMonitor};
use tokio::sync::{mpsc, watch};
use zookeeper_client::SessionState;

use super::client_states::Told;
use super::served::{Ended, Served, serve};
use super::shared::Shared;
use super::{SessionOptions, ZooKeeperSession};
use crate::client::ZooKeeperClient;
use crate::client::memory::MemoryServer;

/// So long that nothing of what a test sees happens by time alone.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(3600);

/// What heartbeats wait for before they count.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A session whose connection, expiry and replacement are the test's business.
pub(crate) struct MemorySession {
    pub(crate) session: ZooKeeperSession,
    server: MemoryServer,
    /// Of the present client.
    states: watch::Sender<SessionState>,
    clients: mpsc::UnboundedSender<(i64, watch::Receiver<SessionState>)>,
}

impl MemorySession {
    /// A session of this number, connected.
    pub(crate) fn new(
        server: &MemoryServer,
        number: i64,
        tolerate_suspended_connections: bool,
        environment: Environment,
    ) -> Self {
        let options = SessionOptions {
            session_timeout: TIMEOUT,
            server_tick_time: Some(TICK),
            tolerate_suspended_connections,
            ..SessionOptions::new("memory")
        };
        let shared = Arc::new(Shared::new(options, environment, HealthMonitor::default()));
        let tasks = Arc::new(shared.environment.task_scope());
        let (clients, mut next) = mpsc::unbounded_channel();
        let session = ZooKeeperSession::of(Arc::clone(&shared), Arc::clone(&tasks));
        let closing = tasks.cancellation();
        let of = server.clone();
        tasks.spawn("memory-session", async move {
            loop {
                let (number, states) = tokio::select! {
                    () = closing.cancelled() => return shared.closed(),
                    Some(next) = next.recv() => next,
                };
                let client = Arc::new(of.client(number)) as Arc<dyn ZooKeeperClient>;
                let served = Served {
                    client,
                    states: Told(states),
                    session_timeout: TIMEOUT,
                    connect_called: shared.environment.clock.now(),
                    attached: false,
                };
                if let Ended::Closing = serve(&shared, &closing, served).await {
                    of.expire(number);
                    return shared.closed();
                }
                shared.session_over();
                shared.set_state(ConnectionState::Lost);
            }
        });
        let mut memory = Self {
            session,
            server: server.clone(),
            states: watch::Sender::new(SessionState::SyncConnected),
            clients,
        };
        memory.give(number);
        memory
    }

    fn give(&mut self, number: i64) {
        self.states = watch::Sender::new(SessionState::SyncConnected);
        let _ = self.clients.send((number, self.states.subscribe()));
    }

    /// Waits for the connection to be what it shall be.
    pub(crate) async fn wait_until(&self, state: ConnectionState) {
        let mut status = self.session.watch_status();
        status.wait_for(|status| status.state == state).await.unwrap();
    }

    /// The connection goes down.
    pub(crate) async fn suspend(&self) {
        self.states.send_replace(SessionState::Disconnected);
        self.wait_until(ConnectionState::Suspended).await;
    }

    /// It is back.
    pub(crate) async fn heal(&self) {
        self.states.send_replace(SessionState::SyncConnected);
        self.wait_until(ConnectionState::Connected).await;
    }

    /// The connection goes down and is back before anybody could look. To be followed by no await that lets the session
    /// look first.
    pub(crate) fn flap_unseen(&self) {
        self.states.send_replace(SessionState::Disconnected);
        self.states.send_replace(SessionState::SyncConnected);
    }

    /// The session of this number expires, for the server and for the client.
    pub(crate) async fn expire(&self, number: i64) {
        self.server.expire(number);
        self.states.send_replace(SessionState::Expired);
        self.wait_until(ConnectionState::Lost).await;
    }

    /// A new session takes the place of the one that expired.
    pub(crate) async fn replace(&mut self, number: i64) {
        self.give(number);
        self.wait_until(ConnectionState::Connected).await;
    }
}
