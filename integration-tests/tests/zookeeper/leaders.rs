//! Who leads, of processes inside the test process.

use std::time::Duration;

use integration_tests::waiting::now;
use integration_tests::{broken_invariant, eventually, pause, scaled};

use super::Process;

/// Enough for what waits for no session to expire, on a machine that stalls; where the session would end it, its
/// timeout is longer.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(10);

/// How often who leads is looked at where two leaders would be found.
const LOOK: Duration = Duration::from_millis(2);

/// Those of `processes` that led at one and the same instant: each was seen leading in one term before that
/// instant and after it.
pub(crate) async fn leading(processes: &[&Process]) -> Vec<usize> {
    let mut before = Vec::new();
    for process in processes {
        before.push(process.term().await);
    }
    let mut leading = Vec::new();
    for (index, process) in processes.iter().enumerate() {
        if before[index].is_some() && process.term().await == before[index] {
            leading.push(index);
        }
    }
    leading
}

/// Waits until `check`, which is given who leads, succeeds; fails as soon as two lead at once.
pub(crate) async fn eventually_led<T>(
    what: &str,
    processes: &[&Process],
    within: Duration,
    mut check: impl AsyncFnMut(&[usize]) -> anyhow::Result<T>,
) -> T {
    let deadline = now() + scaled(within);
    loop {
        let leaders = leading(processes).await;
        if leaders.len() > 1 {
            broken_invariant(&format!("{what}: {leaders:?} lead at once"));
        }
        match check(&leaders).await {
            Ok(found) => return found,
            Err(error) => assert!(now() < deadline, "not within {within:?}: {what}: {error:#}"),
        }
        pause(LOOK).await;
    }
}

/// Waits until exactly one of `processes` leads, and gives its index.
pub(crate) async fn one_leads(processes: &[Process], within: Duration) -> usize {
    eventually("one process leads", within, async || {
        let mut leaders = Vec::new();
        for (index, process) in processes.iter().enumerate() {
            if process.leads().await {
                leaders.push(index);
            }
        }
        anyhow::ensure!(leaders.len() == 1, "leading: {leaders:?}");
        Ok(leaders[0])
    })
    .await
    .unwrap()
}

/// Waits until this one leads.
pub(crate) async fn wait_until_leads(process: &Process, within: Duration) {
    eventually("it leads", within, async || {
        anyhow::ensure!(process.leads().await);
        Ok(())
    })
    .await
    .unwrap();
}

/// Closes all, one after the other.
pub(crate) async fn close_all(processes: &[Process]) {
    for process in processes {
        process.close().await;
    }
}
