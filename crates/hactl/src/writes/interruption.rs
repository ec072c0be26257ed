use ha_cli::stop_on_signal;
use ha_core::environment::{Environment, TaskScope};
use ha_core::{Error, ErrorKind, Result};
use tokio_util::sync::CancellationToken;

/// SIGINT and SIGTERM: the first one ends a command between two changes, the second one at once.
pub(crate) struct Interruption {
    stop: CancellationToken,
    /// What listens.
    _scope: TaskScope,
}

impl Interruption {
    /// From now on the signals do not end the process by themselves.
    ///
    /// # Errors
    /// `Internal`: the system refuses.
    pub(crate) fn listen(environment: &Environment) -> Result<Self> {
        let scope = environment.task_scope();
        Ok(Self {
            stop: stop_on_signal(&scope)?,
            _scope: scope,
        })
    }

    /// Completes at the first of them.
    pub(crate) async fn requested(&self) {
        self.stop.cancelled().await;
    }

    /// Whether one has come.
    pub(crate) fn is_requested(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// What a command that was ended so says.
    pub(crate) fn error() -> Error {
        Error::new(ErrorKind::Closed, "interrupted by a signal")
            .not_applied()
            .advise("run the command again: it goes on with what is left")
    }
}
