use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use ha_services::environment::{Environment, TaskScope};
use ha_services::{Error, ErrorKind, Result};

use super::RestState;
use super::handlers::router;

/// How long open requests may take when the process ends.
const CLOSE_WAIT: Duration = Duration::from_millis(500);

/// A bound endpoint that does not answer yet.
#[derive(Debug)]
pub struct RestListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl RestListener {
    /// Binds one of the addresses, the first that is free.
    ///
    /// # Errors
    /// `Invalid` when none can be bound, with the reason of the last.
    pub fn bind(addresses: &[SocketAddr]) -> Result<Self> {
        let mut failure = Error::invalid("no address to listen on");
        for address in addresses {
            match bind(*address) {
                Ok(listener) => return Ok(listener),
                Err(error) => {
                    failure = Error::invalid(format!("cannot listen: {error}"))
                        .at(address.to_string())
                        .advise("choose another address with --rest");
                }
            }
        }
        Err(failure)
    }

    /// The address that was bound.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind(address: SocketAddr) -> std::io::Result<RestListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(RestListener {
        address: listener.local_addr()?,
        listener,
    })
}

/// A running endpoint.
pub struct RestServer {
    scope: TaskScope,
}

impl RestServer {
    /// Answers requests from now on.
    ///
    /// # Errors
    /// `Unavailable` when the listener cannot be used.
    pub fn start(environment: &Environment, listener: RestListener, state: Arc<RestState>) -> Result<Self> {
        let listener = tokio::net::TcpListener::from_std(listener.listener).map_err(|error| {
            Error::new(ErrorKind::Unavailable, format!("cannot listen: {error}")).not_applied()
        })?;
        let scope = environment.task_scope();
        let (stop, stopping) = (scope.cancellation(), scope.cancellation());
        let clock = Arc::clone(&environment.clock);
        scope.spawn("rest", async move {
            let serving = axum::serve(listener, router(state))
                .with_graceful_shutdown(async move { stopping.cancelled().await });
            let out_of_time = async {
                stop.cancelled().await;
                clock.sleep(CLOSE_WAIT).await;
            };
            tokio::select! {
                served = serving => if let Err(error) = served {
                    tracing::error!(%error, "the REST endpoint ended");
                },
                () = out_of_time => {}
            }
        });
        Ok(Self { scope })
    }

    /// Ends: open requests get a moment.
    pub async fn stop(&self) {
        self.scope.shutdown().await;
    }
}
