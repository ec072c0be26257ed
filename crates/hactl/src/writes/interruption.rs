use futures::FutureExt as _;
use ha_core::{Error, ErrorKind, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, which end a command between two changes.
pub(crate) struct Interruption {
    interrupt: Signal,
    terminate: Signal,
}

impl Interruption {
    /// From now on the signals do not end the process by themselves.
    ///
    /// # Errors
    /// `Internal`: the system refuses.
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Error::new(ErrorKind::Internal, "the signals cannot be listened to").caused_by(error)
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Completes at the first of them.
    pub(crate) async fn requested(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Whether one has come.
    pub(crate) fn is_requested(&mut self) -> bool {
        self.requested().now_or_never().is_some()
    }

    /// What a command that was ended so says.
    pub(crate) fn error() -> Error {
        Error::new(ErrorKind::Closed, "interrupted by a signal")
            .not_applied()
            .advise("run the command again: it goes on with what is left")
    }
}
