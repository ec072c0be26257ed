use std::sync::Arc;
use std::time::Duration;

use ha_core::Error;
use ha_core::environment::BootInstant;
use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use super::client_states::ClientStates;
use super::connection::follow;
use super::heartbeat::Heartbeat;
use super::observed_client::ObservedClient;
use super::shared::Shared;
use crate::client::{SessionId, ZooKeeperClient};

/// A client that is connected, and what its session is known by.
pub(super) struct Served<S> {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    /// Of the client, as it was when it had just been given the session.
    pub(super) states: S,
    /// What the server granted.
    pub(super) session_timeout: Duration,
    /// Taken before `connect` was called.
    pub(super) connect_called: BootInstant,
    /// It was attached to a session that another client had made.
    pub(super) attached: bool,
}

/// Why a client's time is over.
pub(super) enum Ended {
    /// The session is over, or the client thinks so.
    SessionOver,
    /// The server has put another session in its place, this one where it is known.
    Swapped(Option<SessionId>),
    /// There is no use in another one.
    Fatal(Error),
    /// This process closes the session.
    Closing,
}

/// Serves one client until its time is over: the lease, the heartbeats, the state of the connection. There is no
/// lease any more once this has completed: before anybody closes the client, which lets the next one lead.
pub(super) async fn serve<S: ClientStates + Clone + 'static>(
    shared: &Shared,
    closing: &CancellationToken,
    served: Served<S>,
) -> Ended {
    let terms = match shared.lease_terms(served.session_timeout) {
        Ok(terms) => terms,
        Err(error) => return Ended::Fatal(error),
    };
    let lease = if served.attached {
        shared.gate.session_reattached(terms)
    } else {
        shared.gate.session_created(terms, served.connect_called)
    };
    let session = served.client.session_id();
    let clock = Arc::clone(&shared.environment.clock);
    let states = served.states.clone();
    let activity = Arc::new(Activity::new(Arc::clone(&shared.gate), lease, states));
    let observed: Arc<dyn ZooKeeperClient> = Arc::new(ObservedClient::new(
        served.client,
        Arc::clone(&clock),
        Arc::clone(&activity),
    ));
    shared.begin(&observed, &activity, terms);
    let heartbeat = Heartbeat {
        client: observed,
        activity: Arc::clone(&activity),
        slot: &shared.proof,
        terms,
        clock,
        ids: Arc::clone(&shared.environment.ids),
        status: shared.status.subscribe(),
    };
    let ended = tokio::select! {
        biased;
        () = closing.cancelled() => Ended::Closing,
        () = shared.swapped(session) => Ended::Swapped(None),
        ended = follow(shared, served.states, activity.losses()) => ended,
        another = heartbeat.beat() => Ended::Swapped(Some(another)),
    };
    shared.gate.session_ended();
    ended
}

#[cfg(test)]
mod tests {
    use ha_core::environment::Environment;
    use ha_core::health::HealthMonitor;
    use ha_core::ids::LeaderSessionId;
    use tokio::sync::watch;
    use zookeeper_client::SessionState;

    use super::*;
    use crate::client::memory::MemoryServer;
    use crate::session::SessionOptions;
    use crate::session::client_states::Told;

    #[tokio::test]
    async fn leadership_is_over_before_the_client_is_closed() {
        let environment = Environment::system();
        let shared = Shared::new(
            SessionOptions::new("memory"),
            environment.clone(),
            HealthMonitor::default(),
        );
        let closing = CancellationToken::new();
        let served = Served {
            client: Arc::new(MemoryServer::default().client(1)),
            states: Told(watch::channel(SessionState::SyncConnected).1),
            session_timeout: Duration::from_secs(60),
            connect_called: environment.clock.now(),
            attached: false,
        };
        let mut serving = Box::pin(serve(&shared, &closing, served));
        assert!(futures::poll!(&mut serving).is_pending());
        let lease = shared.connected_client().unwrap().lease;
        let term = LeaderSessionId::from_bits(0, 1);
        assert!(shared.gate.grant(lease, term));
        closing.cancel();
        assert!(matches!(serving.await, Ended::Closing));
        assert!(!shared.gate.has_leadership(term));
    }
}
