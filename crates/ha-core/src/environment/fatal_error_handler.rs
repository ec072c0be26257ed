use crate::error::Error;

/// Told of errors after which the process must not go on: failed authentication, an identity mismatch, a
/// contender that does not stop, a panicked task.
///
/// It is called at most once for each cause. A cluster process ends itself here; a library user decides.
pub trait FatalErrorHandler: Send + Sync + 'static {
    /// Handles the error. Must not block.
    fn on_fatal_error(&self, error: Error);
}

/// Logs the error and goes on; the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoggingFatalErrorHandler;

impl FatalErrorHandler for LoggingFatalErrorHandler {
    fn on_fatal_error(&self, error: Error) {
        tracing::error!(%error, "fatal error of the HA services");
    }
}
