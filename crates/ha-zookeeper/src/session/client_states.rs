use async_trait::async_trait;
use zookeeper_client::{SessionState, StateWatcher};

/// What a client says of its connection: the latest always, what was in between maybe.
#[async_trait]
pub(super) trait ClientStates: Send {
    /// The latest.
    fn latest(&mut self) -> SessionState;

    /// Waits until another one was told than the one given last. That may be an equal one, after others that
    /// nobody has seen.
    async fn next(&mut self) -> SessionState;
}

#[async_trait]
impl ClientStates for StateWatcher {
    fn latest(&mut self) -> SessionState {
        self.state()
    }

    async fn next(&mut self) -> SessionState {
        self.changed().await
    }
}

/// States that a test tells.
#[cfg(test)]
#[derive(Clone)]
pub(super) struct Told(pub(super) tokio::sync::watch::Receiver<SessionState>);

#[cfg(test)]
#[async_trait]
impl ClientStates for Told {
    fn latest(&mut self) -> SessionState {
        *self.0.borrow_and_update()
    }

    async fn next(&mut self) -> SessionState {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.latest()
    }
}
