//! Code of others that may panic: callbacks, and drivers.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;

use crate::error::{Error, ErrorKind, Result};

/// The result of a call, or the panic that ended it as an `Internal` error, so that one contender's or driver's
/// defect stays its own and whoever waits gets an answer.
///
/// # Errors
/// `Internal` for a panic.
///
/// # Cancellation
/// Dropping it drops the call.
pub async fn guarded<T>(what: &'static str, call: impl Future<Output = T>) -> Result<T> {
    AssertUnwindSafe(call)
        .catch_unwind()
        .await
        .map_err(|_| panicked(what))
}

/// [`guarded`] for a call that can fail.
pub(crate) async fn guarded_result<T>(
    what: &'static str,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    guarded(what, call).await.and_then(|result| result)
}

/// The error of a panic in `what`.
pub(crate) fn panicked(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("{what} panicked"))
}
