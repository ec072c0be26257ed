use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::backoff::Backoff;
use ha_core::environment::{Environment, TaskScope};
use ha_core::health::HealthMonitor;
use ha_core::lease::{LeadershipGate, LeaseTerms};
use ha_core::{Error, ErrorKind, Follower, Result};
use tokio::sync::watch;

use super::heartbeat::LeaseProof;
use super::keeper::{Connected, Keeper};
use super::shared::{SessionClient, Shared};
use super::{SessionOptions, SessionStatus};
use crate::client::{ClientSource, SessionId, ZooKeeperClient, connect_client};

/// The longest wait between attempts at start.
const LONGEST_RETRY_WAIT: Duration = Duration::from_secs(30);

/// The one ZooKeeper session of a process: a handle, cheap to clone.
///
/// A task of its own follows the connection, replaces the client after an expiry (one attempt to attach to the
/// old session, then new ones for ever) and keeps the lease of design §3 by heartbeats. A session that is over
/// takes its ephemeral znodes, watches and any leadership with it; `status` tells.
///
/// # On connection loss
/// The session lives on; operations that were in flight fail with an unknown effect.
///
/// # A session that was swapped
/// A server may answer a reconnect with another session in place of the old one, without saying so (ZooKeeper never
/// does). A process that stands in an election asks for its session at each reconnect: until the answer is there,
/// nothing that is answered prolongs the lease, and another session ends leadership at once. A process that only
/// follows leaders loses nothing by the swap.
///
/// # Limits
/// While only replies are lost, the attempts to connect keep the old session alive, and with it the latch: the lease
/// is over in time, but until the fault ends nobody leads for up to 2.7 session timeouts (1.4 until the client crate
/// gives up, a quarter for the attempt to attach, one until the session expires). The session cannot be closed
/// earlier: that takes a reply to the connect. Once replies come again, leadership is granted anew at once.
///
/// All servers have to grant the same session timeout: what one grants at a reconnect is not known to this process.
#[derive(Clone)]
pub struct ZooKeeperSession {
    shared: Arc<Shared>,
    tasks: Arc<TaskScope>,
}

impl ZooKeeperSession {
    /// Opens a session: the first attempt and `max_retry_attempts` further ones, `retry_wait` apart and doubling
    /// to 30 s; for ever where the options say so.
    ///
    /// # Errors
    /// `Invalid` when the options, or the session timeout that the servers granted, leave no lease;
    /// `Unavailable` with the addresses tried; `Denied` when the credentials are refused. Not applied.
    ///
    /// # Cancellation
    /// Nothing is left but, perhaps, an unused session that ends by its timeout.
    pub async fn connect(
        options: SessionOptions,
        environment: Environment,
        health: HealthMonitor,
    ) -> Result<Self> {
        options.validate()?;
        let shared = Arc::new(Shared::new(options, environment, health));
        let connected = first_connection(&shared).await?;
        if let Err(error) = shared.lease_terms(connected.client.session_timeout()) {
            connected
                .client
                .close_within(shared.close_bound(), shared.environment.clock.as_ref())
                .await;
            return Err(error);
        }
        let tasks = Arc::new(shared.environment.task_scope());
        let keeper = Keeper {
            shared: Arc::clone(&shared),
            closing: tasks.cancellation(),
        };
        let mut status = shared.status.subscribe();
        tasks.spawn("zookeeper-session", keeper.run(connected));
        // The keeper tells of the connection that is there already, so this does not wait for the network.
        let told = status
            .wait_for(|status| status.connects > 0 || status.closed)
            .await;
        drop(told);
        Ok(Self { shared, tasks })
    }

    /// The handle of a session that a test serves.
    #[cfg(test)]
    pub(super) const fn of(shared: Arc<Shared>, tasks: Arc<TaskScope>) -> Self {
        Self { shared, tasks }
    }

    /// Follows the state of the session.
    pub fn status(&self) -> Follower<SessionStatus> {
        Follower::new(self.watch_status())
    }

    /// As [`status`](Self::status), for tasks of this crate, which borrow for no longer than it takes to copy.
    pub(crate) fn watch_status(&self) -> watch::Receiver<SessionStatus> {
        self.shared.status.subscribe()
    }

    /// The session timeout that the servers granted to the newest session.
    pub fn session_timeout(&self) -> Duration {
        self.shared.session_timeout()
    }

    /// The times that a lease on the newest session depends on.
    ///
    /// # Errors
    /// `Invalid` when the servers granted a timeout that leaves no lease.
    pub fn lease_terms(&self) -> Result<LeaseTerms> {
        self.shared.lease_terms(self.session_timeout())
    }

    /// The health monitor that the session tells of its connection.
    pub fn health(&self) -> HealthMonitor {
        self.shared.health.clone()
    }

    /// Whether a suspension that heals inside the lease is invisible.
    pub fn tolerates_suspension(&self) -> bool {
        self.shared.options.tolerate_suspended_connections
    }

    /// Closes the session and waits until the server has confirmed it: its ephemeral znodes are gone then. While
    /// the connection is down, this waits a second at most, and the session ends by its timeout. Idempotent.
    pub async fn close(&self) {
        self.tasks.shutdown().await;
    }

    /// The lease of the session and the grant that stands on it.
    pub(crate) fn gate(&self) -> &Arc<LeadershipGate> {
        &self.shared.gate
    }

    /// From now on heartbeats are proofs of this term (`Some`), or plain again.
    pub(crate) fn set_proof(&self, proof: Option<LeaseProof>) {
        self.shared.proof.set(proof);
    }

    /// From now on each new connection is asked for its session by an ephemeral node whose path begins with `prefix`,
    /// and whose parent exists. Nobody ever sees the node.
    pub(crate) fn set_session_check(&self, prefix: String) {
        self.shared.proof.set_session_check(prefix);
    }

    /// Gives up the client of `session`, because the server has put another session in its place, and makes a
    /// new session.
    pub(crate) fn give_up(&self, session: SessionId) {
        self.shared.note_swapped(session);
    }

    /// The client with its lease, once connected; waits as long as it takes.
    ///
    /// # Errors
    /// `Closed`, or why the session failed for good.
    pub(crate) async fn session_client(&self) -> Result<SessionClient> {
        let mut status = self.shared.status.subscribe();
        loop {
            if status.borrow_and_update().closed {
                return Err(self.shared.closed_error());
            }
            if let Some(client) = self.shared.connected_client() {
                return Ok(client);
            }
            if status.changed().await.is_err() {
                return Err(self.shared.closed_error());
            }
        }
    }
}

#[async_trait]
impl ClientSource for ZooKeeperSession {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        if let Some(present) = self.shared.connected_client() {
            return Ok(present.client);
        }
        let bound = self.session_timeout();
        tokio::select! {
            biased;
            present = self.session_client() => present.map(|present| present.client),
            () = self.shared.environment.clock.sleep(bound) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("no connection to ZooKeeper within {} ms", bound.as_millis()),
            )
            .at(self.shared.options.servers.clone())
            .not_applied()),
        }
    }
}

async fn first_connection(shared: &Shared) -> Result<Connected> {
    let options = &shared.options;
    let clock = shared.environment.clock.as_ref();
    let mut backoff = Backoff::new(options.retry_wait, LONGEST_RETRY_WAIT.max(options.retry_wait));
    let mut attempt = 0u32;
    loop {
        let connect_called = clock.now();
        let error = match connect_client(
            &options.servers,
            options.session_timeout,
            options.connection_timeout,
            clock,
        )
        .await
        {
            Ok(client) => {
                return Ok(Connected {
                    client,
                    connect_called,
                    attached: false,
                });
            }
            Err(error) => error,
        };
        if error.kind() != ErrorKind::Unavailable {
            return Err(error);
        }
        if !options.wait_for_zookeeper && attempt >= options.max_retry_attempts {
            let text = format!("{} (tried {} times)", error.message(), attempt + 1);
            return Err(Error::new(ErrorKind::Unavailable, text)
                .at(options.servers.clone())
                .advise("check that the ZooKeeper servers run and that high-availability.zookeeper.quorum names them")
                .not_applied());
        }
        attempt = attempt.saturating_add(1);
        let wait = backoff.next_delay();
        tracing::warn!(%error, attempt, wait_ms = wait.as_millis(), "no ZooKeeper yet");
        clock.sleep(wait).await;
    }
}
