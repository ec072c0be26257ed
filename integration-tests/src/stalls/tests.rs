use std::cell::Cell;
use std::process::Command;

use super::*;
use crate::{broken_invariant, eventually};

/// A machine that stalled for so long in each attempt.
struct Stalled(Duration);

impl Watch for Stalled {
    fn longest(&self) -> Duration {
        self.0
    }
}

/// How many attempts were made, and what came of them, where the first `failures` fail.
async fn attempts(stall: Duration, failures: usize, fail: impl Fn() -> Result<()>) -> (usize, bool) {
    let made = Cell::new(0);
    let attempt = async || {
        made.set(made.get() + 1);
        if made.get() <= failures { fail() } else { Ok(()) }
    };
    let outcome = AssertUnwindSafe(repeat(attempt, || Ok(Stalled(stall))))
        .catch_unwind()
        .await;
    (made.get(), matches!(outcome, Ok(Ok(()))))
}

fn an_error() -> Result<()> {
    anyhow::bail!("late")
}

fn a_panic() -> Result<()> {
    panic!("late")
}

#[tokio::test]
async fn a_failure_on_a_machine_that_stalled_is_made_again_and_no_other() {
    let long = STALL + Duration::from_millis(1);
    for fail in [an_error, a_panic] {
        assert_eq!(attempts(long, 0, fail).await, (1, true));
        assert_eq!(attempts(long, 2, fail).await, (3, true));
        assert_eq!(attempts(long, usize::MAX, fail).await, (ATTEMPTS, false));
        assert_eq!(attempts(STALL, 1, fail).await, (1, false));
    }
}

#[tokio::test]
async fn a_broken_invariant_is_not_forgiven() {
    let two_lead = || broken_invariant("two lead");
    assert_eq!(attempts(STALL * 10, 1, two_lead).await, (1, false));
}

/// This process is stopped from outside, which is a stall to all that it runs.
#[tokio::test]
async fn a_stall_is_seen() {
    let watch = StallWatch::start().unwrap();
    let mut stop = Command::new("sh")
        .args(["-c", "kill -STOP $PPID; sleep 1; kill -CONT $PPID"])
        .spawn()
        .unwrap();
    eventually("the stall is seen", Duration::from_secs(30), async || {
        let longest = watch.longest();
        anyhow::ensure!(longest >= Duration::from_millis(900), "{longest:?}");
        Ok(())
    })
    .await
    .unwrap();
    assert!(stop.wait().unwrap().success());
}
