//! Waiting for conditions, and the knobs that all tests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use ha_core::environment::{BootInstant, Clock as _, IdSource as _, RandomIdSource, SystemClock};

/// How often a condition is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// What even the last attempt may take: a request to a server is not answered at once.
const LAST_ATTEMPT: Duration = Duration::from_secs(1);
/// A wait of [`POLL_INTERVAL`] that took so much longer was none of this test's: the machine stalled.
const STALL: Duration = Duration::from_millis(200);

/// What takes longer than this never comes.
const LASTING: Duration = Duration::from_secs(60);

/// Waits until `check` succeeds, at most `timeout` times [`time_factor`]. Time in which the machine stalled does not
/// count.
///
/// # Errors
/// The condition's name and its last error when the time is over.
pub async fn eventually<T>(
    what: &str,
    timeout: Duration,
    mut check: impl AsyncFnMut() -> Result<T>,
) -> Result<T> {
    let timeout = scaled(timeout);
    let mut deadline = now() + timeout;
    loop {
        // The bound holds for one attempt too: a request to a stopped server would hang.
        let left = deadline.saturating_since(now()).max(LAST_ATTEMPT);
        let error = match tokio::time::timeout(left, check()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => anyhow::anyhow!("the last attempt did not return"),
        };
        if now() >= deadline {
            return Err(error).with_context(|| format!("not within {timeout:?}: {what}"));
        }
        let before = now();
        pause(POLL_INTERVAL).await;
        let late = now().saturating_since(before).saturating_sub(POLL_INTERVAL);
        if late > STALL {
            deadline = deadline + late;
        }
    }
}

/// How long a leader is waited for after faults have ended: in the full form `bound`, which I9 gives, or the design.
/// In the short form, which runs beside other tests and on machines that stall, so long that only a leader that never
/// comes is missed; the test says how long it took.
pub fn recovery_limit(bound: Duration) -> Duration {
    if full_form() { bound } else { bound.max(LASTING) }
}

/// Lets time pass. For faults of a given length only, never to wait for something to happen.
pub async fn pause(duration: Duration) {
    SystemClock.sleep(duration).await;
}

/// Lets time pass on this thread, which does nothing else meanwhile. For threads outside a runtime, and for faults
/// that block a runtime's threads.
pub fn block_thread(duration: Duration) {
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    // Nobody sends, so it ends by the time alone.
    let _ = receiver.recv_timeout(duration);
}

/// Now, on the clock that goes on while the machine is suspended.
pub fn now() -> BootInstant {
    SystemClock.now()
}

/// `timeout` times [`time_factor`].
pub fn scaled(timeout: Duration) -> Duration {
    timeout.mul_f64(time_factor())
}

/// The factor of all waiting times, from HA_TEST_TIME_FACTOR (default 1): more on a slow machine.
pub fn time_factor() -> f64 {
    std::env::var("HA_TEST_TIME_FACTOR")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|factor| factor.is_finite() && *factor > 0.0)
        .unwrap_or(1.0)
}

/// Whether counted and random tests run in their full form: HA_TEST_FULL=1.
pub fn full_form() -> bool {
    std::env::var("HA_TEST_FULL").is_ok_and(|value| value == "1")
}

/// The seed of this run: HA_TEST_SEED, else a random one. Tests print it.
///
/// # Errors
/// HA_TEST_SEED is not a number.
pub fn seed() -> Result<u64> {
    match std::env::var("HA_TEST_SEED") {
        Ok(text) => text
            .parse()
            .with_context(|| format!("HA_TEST_SEED={text}: expected a decimal number")),
        Err(_) => Ok(RandomIdSource.uuid().as_u64_pair().0 >> 16),
    }
}

/// A name that no other test, test run or process uses: for cluster ids and roots on a shared server.
pub fn unique_name(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let random = RandomIdSource.uuid().as_u64_pair().0 >> 32;
    format!("{prefix}-{}-{number}-{random:08x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn eventually_names_the_condition_and_the_last_error() {
        let error = eventually("the moon is blue", Duration::from_millis(1), async || {
            anyhow::bail!("it is grey") as Result<()>
        })
        .await
        .unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("the moon is blue") && text.contains("it is grey"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn eventually_gives_up_on_an_attempt_that_hangs() {
        let hang = eventually("an answer", Duration::from_millis(50), async || {
            std::future::pending::<Result<()>>().await
        });
        assert!(hang.await.is_err());
    }

    #[test]
    fn unique_names_differ() {
        assert_ne!(unique_name("a"), unique_name("a"));
    }
}
