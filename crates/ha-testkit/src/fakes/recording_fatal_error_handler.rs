use ha_core::environment::FatalErrorHandler;
use ha_core::error::{Error, ErrorKind};

use super::Recorder;

/// Records fatal errors. Clones share one record.
#[derive(Clone, Debug, Default)]
pub struct RecordingFatalErrorHandler {
    errors: Recorder<Error>,
}

impl RecordingFatalErrorHandler {
    /// A handler that was told nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What it was told.
    pub fn errors(&self) -> Vec<Error> {
        self.errors.events()
    }

    /// Waits for the first error of this kind.
    pub async fn wait_for_kind(&self, kind: ErrorKind) -> Error {
        self.errors
            .wait_for("a fatal error of the kind", |errors| {
                errors.iter().find(|error| error.kind() == kind).cloned()
            })
            .await
    }
}

impl FatalErrorHandler for RecordingFatalErrorHandler {
    fn on_fatal_error(&self, error: Error) {
        self.errors.record(error);
    }
}
