//! Machines that stall: for seconds they run nothing at all, while clocks and session timeouts go on.
//!
//! A test whose case depends on time cannot tell a machine that stalled from a product that was late. It does not
//! assume that the machine never stalls, nor is it content with less: [`unstalled`] makes the case again, whole, when
//! it failed and the machine is known to have stalled meanwhile.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::FutureExt as _;

use crate::broken_invariant::is_broken_invariant;
use crate::waiting::now;

/// What a case must survive. A machine that stalled for longer may have spoilt it: leases, and the time in which a
/// fault must be noticed, are seconds.
const STALL: Duration = Duration::from_millis(500);
/// How often the machine is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
const ATTEMPTS: usize = 4;

/// Makes `attempt` until it succeeds. Once more, at most four times in all, only when it failed (by an error or by a
/// panic) *and* the machine stalled for more than half a second meanwhile. A broken invariant is never forgiven: no
/// stall excuses two leaders.
///
/// # Errors
/// That of the last attempt, with the longest stall.
///
/// # Panics
/// As the last attempt did.
pub async fn unstalled<T>(attempt: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    repeat(attempt, StallWatch::start).await
}

/// [`unstalled`] for a case that fails by panics alone.
///
/// # Panics
/// As the last attempt did.
#[expect(clippy::panic, reason = "fails the test")]
pub async fn unstalled_case(mut case: impl AsyncFnMut()) {
    let attempt = async || {
        case().await;
        Ok(())
    };
    if let Err(error) = unstalled(attempt).await {
        panic!("{error:#}");
    }
}

/// What sees a machine stall.
trait Watch {
    /// The longest time so far for which nothing ran.
    fn longest(&self) -> Duration;
}

async fn repeat<T, W: Watch>(
    mut attempt: impl AsyncFnMut() -> Result<T>,
    watch: impl Fn() -> Result<W>,
) -> Result<T> {
    let mut number = 1;
    loop {
        let watch = watch()?;
        let outcome = AssertUnwindSafe(attempt()).catch_unwind().await;
        let longest = watch.longest();
        let spoilt = number < ATTEMPTS && longest > STALL;
        match outcome {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if spoilt => tell(number, longest, &format!("{error:#}")),
            Ok(Err(error)) => {
                return Err(error).with_context(|| format!("the machine stalled for {longest:?} at most"));
            }
            Err(panic) if spoilt && !is_broken_invariant(&*panic) => {
                tell(number, longest, "it panicked, as told above");
            }
            Err(panic) => resume_unwind(panic),
        }
        number += 1;
    }
}

#[expect(clippy::print_stderr, reason = "a test run says what it repeats, and why")]
fn tell(number: usize, longest: Duration, failure: &str) {
    eprintln!("attempt {number} is made again, for the machine stalled for {longest:?}: {failure}");
}

/// A thread that sleeps, and sees for how long it was not run when it should have been.
struct StallWatch {
    longest: Arc<AtomicU64>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StallWatch {
    fn start() -> Result<Self> {
        let longest = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel();
        let seen = Arc::clone(&longest);
        // Not the thread's own beginning: a stall before that counts.
        let mut before = now();
        let look = move || {
            while stopped.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let after = now();
                let late = after.saturating_since(before).saturating_sub(LOOK_INTERVAL);
                seen.fetch_max(
                    u64::try_from(late.as_millis()).unwrap_or(u64::MAX),
                    Ordering::Relaxed,
                );
                before = after;
            }
        };
        let thread = std::thread::Builder::new()
            .name("stall watch".to_owned())
            .spawn(look)?;
        Ok(Self {
            longest,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Watch for StallWatch {
    fn longest(&self) -> Duration {
        Duration::from_millis(self.longest.load(Ordering::Relaxed))
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
