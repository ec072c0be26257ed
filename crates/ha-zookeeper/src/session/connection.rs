use ha_core::environment::BootInstant;
use ha_core::health::ConnectionState;
use ha_core::{Error, ErrorKind};
use tokio::sync::watch;
use zookeeper_client::SessionState;

use super::client_states::ClientStates;
use super::served::Ended;
use super::shared::Shared;

/// Follows the state of the connection until the session is over. `losses` are the send times of operations that
/// failed by its loss.
pub(super) async fn follow(
    shared: &Shared,
    mut states: impl ClientStates,
    mut losses: watch::Receiver<Option<BootInstant>>,
) -> Ended {
    let clock = shared.environment.clock.as_ref();
    let mut connected_since = clock.now();
    let mut current = states.latest();
    loop {
        match current {
            SessionState::SyncConnected => {
                connected_since = clock.now();
                shared.set_state(ConnectionState::Connected);
            }
            // Nothing is concluded from what a read-only server says.
            SessionState::Disconnected | SessionState::ConnectedReadOnly => {
                shared.set_state(ConnectionState::Suspended);
            }
            SessionState::Expired | SessionState::Closed => return Ended::SessionOver,
            SessionState::AuthFailed => {
                return Ended::Fatal(
                    Error::new(ErrorKind::Denied, "ZooKeeper refused the credentials")
                        .at(shared.options.servers.clone()),
                );
            }
        }
        // The state first: it tells of a flap by itself, and a loss that belongs to it is not another one.
        let next = tokio::select! {
            biased;
            next = states.next() => next,
            () = lost_since(&mut losses, connected_since), if current == SessionState::SyncConnected => {
                shared.set_state(ConnectionState::Suspended);
                states.latest()
            }
        };
        if current == SessionState::SyncConnected && next == SessionState::SyncConnected {
            // The client never tells the same state twice: it was down in between.
            shared.set_state(ConnectionState::Suspended);
        }
        current = next;
    }
}

/// Completes when an operation that was sent after the connection was made has failed by its loss.
async fn lost_since(losses: &mut watch::Receiver<Option<BootInstant>>, connected_since: BootInstant) {
    let lost = losses.wait_for(|newest| newest.is_some_and(|sent| sent >= connected_since));
    if lost.await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use ha_core::environment::{Clock as _, Environment, SystemClock};
    use ha_core::health::HealthMonitor;

    use super::*;
    use crate::session::SessionOptions;
    use crate::session::client_states::Told;

    fn shared() -> Shared {
        Shared::new(
            SessionOptions::new("127.0.0.1:1"),
            Environment::system(),
            HealthMonitor::default(),
        )
    }

    #[tokio::test]
    async fn down_and_up_between_two_looks_is_a_connection_made_again() {
        let shared = shared();
        let told = watch::Sender::new(SessionState::SyncConnected);
        let losses = watch::Sender::new(None);
        let mut following = Box::pin(follow(&shared, Told(told.subscribe()), losses.subscribe()));
        assert!(futures::poll!(&mut following).is_pending());
        assert_eq!(shared.status.borrow().connects, 1);
        let sent = SystemClock.now();
        told.send_replace(SessionState::Disconnected);
        losses.send_replace(Some(sent));
        told.send_replace(SessionState::SyncConnected);
        assert!(futures::poll!(&mut following).is_pending());
        assert!(shared.status.borrow().is_connected());
        assert_eq!(shared.status.borrow().connects, 2, "the loss belongs to the flap");
    }

    #[tokio::test]
    async fn an_operation_that_failed_by_loss_is_a_flap_although_the_client_told_of_none() {
        let shared = shared();
        let told = watch::Sender::new(SessionState::SyncConnected);
        let losses = watch::Sender::new(None);
        let mut following = Box::pin(follow(&shared, Told(told.subscribe()), losses.subscribe()));
        assert!(futures::poll!(&mut following).is_pending());
        losses.send_replace(Some(SystemClock.now()));
        assert!(futures::poll!(&mut following).is_pending());
        assert_eq!(shared.status.borrow().connects, 2);
    }
}
