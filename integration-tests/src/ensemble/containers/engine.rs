//! Requests to the container engine.
//!
//! They run on a runtime of their own, which lives as long as the process: a connection to the engine outlives the
//! runtime of the test that made it, and a server is controlled, and ended when a test panics, from code that cannot
//! await.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use testcontainers::bollard::Docker;
use testcontainers::core::client::docker_client_instance;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("container-engine")
        .enable_all()
        .build()
});

/// Runs a request and awaits its end.
///
/// # Errors
/// It panicked.
pub(super) async fn request<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    Ok(runtime()?.spawn(request).await?)
}

/// Runs a request and blocks the thread until its end.
///
/// # Errors
/// It panicked.
pub(super) fn request_blocking<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    // What the task itself gives is sent: its handle could only be awaited.
    runtime()?.spawn(async move {
        // Nobody gives up waiting for it.
        let _ = sender.send(request.await);
    });
    receiver
        .recv()
        .context("a request to the container engine panicked")
}

/// The client that testcontainers uses, for what that does not offer.
///
/// # Errors
/// No engine is configured.
pub(super) async fn client() -> Result<Docker> {
    docker_client_instance()
        .await
        .context("there is no container engine; start one, or set DOCKER_HOST")
}

/// The version of the engine that answers.
///
/// # Errors
/// None does.
pub fn engine_version() -> Result<String> {
    let version = request_blocking(async {
        let version = client()
            .await?
            .version()
            .await
            .context("no container engine answers")?;
        Ok::<_, anyhow::Error>(version.version)
    })??;
    Ok(version.unwrap_or_default())
}

fn runtime() -> Result<&'static Runtime> {
    RUNTIME
        .as_ref()
        .map_err(|error| anyhow::anyhow!("no runtime for the container engine: {error}"))
}
