//! Waiting for a condition, with a limit after which the test fails and says what it waited for.

use std::future::Future;
use std::time::Duration;

use ha_core::environment::{Clock as _, SystemClock};

/// How often a condition that announces no change is looked at.
const POLL: Duration = Duration::from_millis(10);

tokio::task_local! {
    static LIMIT: Duration;
}

/// How long a condition is waited for: 30 s or what [`with_limit`] says, times `HA_TEST_TIME_FACTOR` (a number,
/// 1 by default) for slow machines.
pub fn limit() -> Duration {
    let limit = LIMIT.try_with(|limit| *limit).unwrap_or(Duration::from_secs(30));
    limit.mul_f64(time_factor())
}

/// Runs `future` with another [`limit`] for what it waits for itself, not for tasks that it starts.
pub async fn with_limit<T>(limit: Duration, future: impl Future<Output = T>) -> T {
    LIMIT.scope(limit, future).await
}

/// The value of `HA_TEST_TIME_FACTOR`, by which every limit of the tests is multiplied. 1 when it is not set.
pub fn time_factor() -> f64 {
    match std::env::var("HA_TEST_TIME_FACTOR") {
        Ok(text) => match text.parse() {
            Ok(factor) if factor > 0.0 && factor <= 1000.0 => factor,
            _ => panic!("HA_TEST_TIME_FACTOR={text} is not a number between 0 and 1000"),
        },
        Err(_) => 1.0,
    }
}

/// Asks `condition` again and again until it answers `Some`.
///
/// # Panics
/// When the [`limit`] passes first, with `what`.
pub async fn eventually<T, F>(what: &str, mut condition: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let clock = SystemClock;
    let deadline = clock.now() + limit();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(clock.now() < deadline, "after {:?}: never {what}", limit());
        clock.sleep(POLL).await;
    }
}

/// Awaits `future`.
///
/// # Panics
/// When the [`limit`] passes first, with `what`.
pub async fn within_limit<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(limit(), future).await {
        Ok(value) => value,
        Err(_) => panic!("after {:?}: never {what}", limit()),
    }
}
