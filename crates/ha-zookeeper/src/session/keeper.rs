use std::sync::Arc;
use std::time::Duration;

use ha_core::backoff::Backoff;
use ha_core::environment::BootInstant;
use ha_core::health::ConnectionState;
use ha_core::{ErrorKind, Result};
use tokio_util::sync::CancellationToken;

use super::served::{Ended, Served, serve};
use super::shared::Shared;
use crate::client::{WireClient, ZooKeeperClient as _, attach_client, connect_client};

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
            let attach = match self.serve(connected).await {
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
                    Some(client.as_ref())
                }
                Ended::Swapped(another) => {
                    tracing::warn!(
                        session = %client.session_id(),
                        another = another.map(tracing::field::display),
                        "the server has put another ZooKeeper session in the place of this one, without saying so"
                    );
                    // What this process holds stands in the old session; that ends by its timeout.
                    self.shared.session_over();
                    tokio::select! {
                        biased;
                        () = self.closing.cancelled() => {}
                        () = client.close_within(self.shared.session_timeout(), clock) => {}
                    }
                    None
                }
            };
            // Any lease and grant ends here, whatever comes of the attempt to attach again.
            self.shared.session_over();
            connected = match self.replace(attach).await {
                Some(Ok(next)) => next,
                Some(Err(error)) => return self.shared.failed(error),
                None => return self.shared.closed(),
            };
        }
    }

    /// Serves one client until its time is over.
    async fn serve(&self, connected: Connected) -> Ended {
        let served = Served {
            states: connected.client.state_watcher(),
            session_timeout: connected.client.session_timeout(),
            connect_called: connected.connect_called,
            attached: connected.attached,
            client: connected.client,
        };
        serve(&self.shared, &self.closing, served).await
    }

    /// Attaches to the old session once more, for a client says that a session is over when the servers are
    /// merely away; else, or without an old one, makes a new one, for as long as it takes. `None` when this
    /// process closes the session; an error where there is no use in trying on.
    async fn replace(&self, old: Option<&WireClient>) -> Option<Result<Connected>> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            connected = self.attach_or_create(old) => Some(connected),
        }
    }

    async fn attach_or_create(&self, old: Option<&WireClient>) -> Result<Connected> {
        if let Some(old) = old
            && let Some(connected) = self.attach(old).await
        {
            return Ok(connected);
        }
        self.shared.set_state(ConnectionState::Lost);
        self.create().await
    }

    async fn attach(&self, old: &WireClient) -> Option<Connected> {
        let clock = self.shared.environment.clock.as_ref();
        let options = &self.shared.options;
        let bound = old.session_timeout() / 4;
        let connect_called = clock.now();
        match attach_client(old, &options.servers, options.session_timeout, bound, clock).await {
            Ok(client) => {
                // A server that knows no such session may hand out another one in its place.
                let attached = client.session_id() == old.session_id();
                tracing::info!(session = %client.session_id(), attached, "connected to ZooKeeper again");
                Some(Connected {
                    client,
                    connect_called,
                    attached,
                })
            }
            Err(error) => {
                tracing::info!(%error, "could not attach to the old ZooKeeper session");
                None
            }
        }
    }

    async fn create(&self) -> Result<Connected> {
        let clock = self.shared.environment.clock.as_ref();
        let options = &self.shared.options;
        let bound = self.shared.session_timeout() / 4;
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
                    return Ok(Connected {
                        client,
                        connect_called,
                        attached: false,
                    });
                }
                Err(error) if error.kind() == ErrorKind::Denied => return Err(error),
                Err(error) => tracing::warn!(%error, "still without a ZooKeeper session"),
            }
            let (random, _) = self.shared.environment.ids.uuid().as_u64_pair();
            clock.sleep(backoff.next_delay_with_jitter(random)).await;
        }
    }
}
