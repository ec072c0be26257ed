//! Trying again until it works.

use std::future::Future;
use std::time::Duration;

use ha_services::backoff::Backoff;
use ha_services::environment::Environment;
use ha_services::{Error, Result};

/// The first wait between two attempts.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The waits between the attempts of anything that must not give up: ¼ s, doubling to 30 s.
pub fn backoff() -> Backoff {
    Backoff::new(FIRST_WAIT, LONGEST_WAIT)
}

/// Repeats `attempt` until it succeeds, telling `failed` of each failure. It does not give up by itself: errors
/// of ZooKeeper and of the storage never end a job (I8), so the caller drops it when the term is over.
pub async fn until_done<T, F: Future<Output = Result<T>>>(
    environment: &Environment,
    mut failed: impl FnMut(&Error),
    mut attempt: impl FnMut() -> F,
) -> T {
    let mut backoff = backoff();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => failed(&error),
        }
        environment.clock.sleep(backoff.next_delay()).await;
    }
}
