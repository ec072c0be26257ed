use std::sync::Arc;
use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::environment::BootInstant;
use ha_core::health::ConnectionState;
use ha_core::{Error, ErrorKind};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zookeeper_client::SessionState;

use super::activity::Activity;
use super::heartbeat;
use super::observed_client::ObservedClient;
use super::shared::Shared;
use crate::client::{WireClient, ZooKeeperClient, attach_client, connect_client};

/// The longest wait between attempts to get a new session.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first one.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// A client that is connected and not yet in use.
pub(super) struct Connected {
    pub(super) client: Arc<WireClient>,
    /// Taken before `connect` was called.
    pub(super) connect_called: BootInstant,
    /// It was attached to a session that another client had made.
    pub(super) attached: bool,
}

/// Why a client's time is over.
enum Ended {
    /// The session is over, or the client thinks so.
    SessionOver,
    /// There is no use in another one.
    Fatal(Error),
    /// This process closes the session.
    Closing,
}

/// The one task that owns the client of the present session and replaces it. There are never two clients on
/// one session: the old one has come to its end before another is made.
pub(super) struct Keeper {
    pub(super) shared: Arc<Shared>,
    pub(super) closing: CancellationToken,
}

impl Keeper {
    pub(super) async fn run(self, mut connected: Connected) {
        let clock = self.shared.environment.clock.as_ref();
        loop {
            let client = Arc::clone(&connected.client);
            match self.serve(connected).await {
                Ended::Closing => {
                    client.close_within(self.shared.close_bound(), clock).await;
                    return self.shared.closed();
                }
                Ended::Fatal(error) => {
                    client.close_within(self.shared.close_bound(), clock).await;
                    return self.shared.failed(error);
                }
                Ended::SessionOver => {
                    tracing::warn!(session = %client.session_id(), "the ZooKeeper session is over, or seems so");
                }
            }
            // Any lease and grant ends here, whatever comes of the attempt to attach again.
            self.shared.session_over();
            let Some(next) = self.replace(&client).await else {
                return self.shared.closed();
            };
            connected = next;
        }
    }

    /// Serves one client until its time is over.
    async fn serve(&self, connected: Connected) -> Ended {
        let client = Arc::clone(&connected.client);
        let terms = match self.shared.lease_terms(client.session_timeout()) {
            Ok(terms) => terms,
            Err(error) => return Ended::Fatal(error),
        };
        let lease = if connected.attached {
            self.shared.gate.session_reattached(terms)
        } else {
            self.shared.gate.session_created(terms, connected.connect_called)
        };
        drop(connected);
        let clock = Arc::clone(&self.shared.environment.clock);
        let activity = Arc::new(Activity::new(Arc::clone(&self.shared.gate), lease));
        let observed: Arc<dyn ZooKeeperClient> = Arc::new(ObservedClient::new(
            Arc::<WireClient>::clone(&client),
            Arc::clone(&clock),
            Arc::clone(&activity),
        ));
        self.shared.begin(&observed, activity.lease(), terms);
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Ended::Closing,
            ended = self.follow(&client, &activity) => ended,
            never = heartbeat::beat(observed, &self.shared.proof, terms, clock) => match never {},
        }
    }

    /// Follows the state of the connection until the session is over.
    async fn follow(&self, client: &WireClient, activity: &Activity) -> Ended {
        let mut state = client.state_watcher();
        let mut losses = activity.losses();
        let mut connected_since = self.shared.environment.clock.now();
        let mut current = state.state();
        loop {
            match current {
                SessionState::SyncConnected => {
                    connected_since = self.shared.environment.clock.now();
                    self.shared.set_state(ConnectionState::Connected);
                }
                // Nothing is concluded from what a read-only server says.
                SessionState::Disconnected | SessionState::ConnectedReadOnly => {
                    self.shared.set_state(ConnectionState::Suspended);
                }
                SessionState::Expired | SessionState::Closed => return Ended::SessionOver,
                SessionState::AuthFailed => {
                    return Ended::Fatal(
                        Error::new(ErrorKind::Denied, "ZooKeeper refused the credentials").at(self
                            .shared
                            .options
                            .servers
                            .clone()),
                    );
                }
            }
            current = tokio::select! {
                changed = state.changed() => changed,
                () = lost_since(&mut losses, connected_since), if current == SessionState::SyncConnected => {
                    self.shared.set_state(ConnectionState::Suspended);
                    state.state()
                }
            };
        }
    }

    /// Attaches to the old session once more, for a client says that a session is over when the servers are
    /// merely away; else makes a new one, for as long as it takes. `None` when this process closes the session.
    async fn replace(&self, old: &WireClient) -> Option<Connected> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            connected = self.attach_or_create(old) => Some(connected),
        }
    }

    async fn attach_or_create(&self, old: &WireClient) -> Connected {
        let clock = self.shared.environment.clock.as_ref();
        let options = &self.shared.options;
        let bound = old.session_timeout() / 4;
        let connect_called = clock.now();
        match attach_client(old, &options.servers, options.session_timeout, bound, clock).await {
            Ok(client) => {
                // A server that knows no such session may hand out another one in its place.
                let attached = client.session_id() == old.session_id();
                tracing::info!(session = %client.session_id(), attached, "connected to ZooKeeper again");
                return Connected {
                    client,
                    connect_called,
                    attached,
                };
            }
            Err(error) => tracing::info!(%error, "could not attach to the old ZooKeeper session"),
        }
        self.shared.set_state(ConnectionState::Lost);
        let mut backoff = Backoff::new(FIRST_WAIT.min(bound), LONGEST_WAIT.min(bound));
        loop {
            let connect_called = clock.now();
            match connect_client(
                &options.servers,
                options.session_timeout,
                options.connection_timeout,
                clock,
            )
            .await
            {
                Ok(client) => {
                    tracing::info!(session = %client.session_id(), "new ZooKeeper session");
                    return Connected {
                        client,
                        connect_called,
                        attached: false,
                    };
                }
                Err(error) => tracing::warn!(%error, "still without a ZooKeeper session"),
            }
            let (random, _) = self.shared.environment.ids.uuid().as_u64_pair();
            clock.sleep(backoff.next_delay_with_jitter(random)).await;
        }
    }
}

/// Completes when an operation that was sent after the connection was made has failed by its loss.
async fn lost_since(losses: &mut watch::Receiver<Option<BootInstant>>, connected_since: BootInstant) {
    let lost = losses.wait_for(|newest| newest.is_some_and(|sent| sent >= connected_since));
    if lost.await.is_err() {
        std::future::pending::<()>().await;
    }
}
