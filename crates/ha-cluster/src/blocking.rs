//! File work off the runtime's threads.

use ha_services::{Error, ErrorKind, Result};

/// Runs `work` on a thread that may block.
///
/// # Errors
/// `Internal` when it panicked or the runtime is going down.
///
/// # Cancellation
/// A dropped call lets the work go on to its end.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::new(ErrorKind::Internal, "file work did not end").caused_by(error))
}
