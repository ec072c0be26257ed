use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use zookeeper_client::SessionState;

use super::client_states::ClientStates;

/// Numbers the connections of one client, at the moment of each question, whatever the runtime is doing.
///
/// The client tells that a connection is down before it hands out an answer that came over the next one. So an
/// answer came over the connection of number `n` if that is the present number once the answer is there.
pub(super) struct Connections {
    seen: Mutex<Seen>,
}

struct Seen {
    states: Box<dyn ClientStates>,
    state: SessionState,
    changes: u64,
}

impl Connections {
    /// The number of the connection by which the client was made.
    pub(super) const FIRST: u64 = 0;

    /// `states` of a client as it was when it had just connected.
    pub(super) fn new(states: impl ClientStates + 'static) -> Self {
        Self {
            seen: Mutex::new(Seen {
                states: Box::new(states),
                state: SessionState::SyncConnected,
                changes: Self::FIRST,
            }),
        }
    }

    /// The number of the connection that stands; `None` while there is none.
    pub(super) fn present(&self) -> Option<u64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Never the latest alone: it would hide a change that came just before.
        while let Some(state) = seen.states.next().now_or_never() {
            seen.state = state;
            seen.changes += 1;
        }
        (seen.state == SessionState::SyncConnected).then_some(seen.changes)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::session::client_states::Told;

    #[test]
    fn every_loss_gives_another_number_even_when_nobody_looked_in_between() {
        let told = watch::Sender::new(SessionState::SyncConnected);
        let connections = Connections::new(Told(told.subscribe()));
        assert_eq!(connections.present(), Some(Connections::FIRST));
        told.send_replace(SessionState::Disconnected);
        assert_eq!(connections.present(), None);
        told.send_replace(SessionState::SyncConnected);
        let second = connections.present();
        assert!(second.is_some_and(|number| number != Connections::FIRST));
        told.send_replace(SessionState::Disconnected);
        told.send_replace(SessionState::SyncConnected);
        let third = connections.present();
        assert!(third.is_some() && third != second);
        told.send_replace(SessionState::ConnectedReadOnly);
        assert_eq!(
            connections.present(),
            None,
            "nothing is concluded from a read-only server"
        );
    }
}
