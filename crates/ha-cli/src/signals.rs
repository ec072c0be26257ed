use ha_core::environment::TaskScope;
use ha_core::{Error, ErrorKind, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ExitCode;

/// Listens to SIGTERM and SIGINT: the first one signals the token, the second one ends the process at once.
///
/// # Errors
/// `Internal` when signals cannot be listened to.
pub fn stop_on_signal(scope: &TaskScope) -> Result<CancellationToken> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Error::new(ErrorKind::Internal, "signals cannot be listened to").caused_by(error)
        })
    };
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let first = stop.clone();
    scope.spawn("signals", async move {
        next(&mut terminate, &mut interrupt).await;
        tracing::info!("told to stop; a second signal ends the process at once");
        first.cancel();
        next(&mut terminate, &mut interrupt).await;
        tracing::warn!("ended by a second signal");
        std::process::exit(i32::from(ExitCode::Interrupted.code()));
    });
    Ok(stop)
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
