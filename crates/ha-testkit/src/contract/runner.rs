use std::future::Future;
use std::time::Duration;

use crate::condition::time_factor;

/// Runs a case on a runtime of its own with two threads, so that order which only one thread gives does not hide
/// a race.
///
/// # Panics
/// When the case fails, or has not ended after two minutes, times `HA_TEST_TIME_FACTOR`.
pub fn run(case: impl Future<Output = ()>) {
    let limit = Duration::from_secs(120).mul_f64(time_factor());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("the runtime starts");
    let outcome = runtime.block_on(async { tokio::time::timeout(limit, case).await });
    // Tasks that a failed case left behind must not hold the result back.
    runtime.shutdown_background();
    assert!(outcome.is_ok(), "the case has not ended after {limit:?}");
}
