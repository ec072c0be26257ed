use ha_services::Error;
use ha_services::environment::FatalErrorHandler;
use tokio::sync::watch;

/// Keeps the first fatal error, after which the process ends.
#[derive(Debug)]
pub(super) struct FatalErrors {
    first: watch::Sender<Option<Error>>,
}

impl FatalErrors {
    pub(super) fn new() -> Self {
        Self {
            first: watch::Sender::new(None),
        }
    }

    /// Completes with the first fatal error.
    pub(super) async fn first(&self) -> Error {
        let mut first = self.first.subscribe();
        loop {
            if let Some(error) = first.borrow_and_update().clone() {
                return error;
            }
            // The sender is part of `self`, so this ends by a change only.
            let _ = first.changed().await;
        }
    }
}

impl FatalErrorHandler for FatalErrors {
    fn on_fatal_error(&self, error: Error) {
        tracing::error!(%error, "fatal error, the process ends");
        self.first.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(error);
            is_first
        });
    }
}
