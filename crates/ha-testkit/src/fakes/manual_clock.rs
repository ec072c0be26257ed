use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ha_core::environment::{BootInstant, BoxFuture, Clock};
use tokio::sync::oneshot;

use crate::condition::eventually;

/// A clock that moves only when the test moves it. Clones share one time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    elapsed: Duration,
    sleepers: Vec<Sleeper>,
}

#[derive(Debug)]
struct Sleeper {
    due: Duration,
    wake: oneshot::Sender<()>,
}

impl ManualClock {
    /// A clock at the start of the machine.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the time on, and wakes the sleepers that are due, the earliest first.
    pub fn advance(&self, duration: Duration) {
        let mut due = {
            let mut state = self.lock();
            state.elapsed = state.elapsed.saturating_add(duration);
            let elapsed = state.elapsed;
            let (due, later) = std::mem::take(&mut state.sleepers)
                .into_iter()
                .partition::<Vec<_>, _>(|sleeper| sleeper.due <= elapsed);
            state.sleepers = later;
            due
        };
        due.sort_by_key(|sleeper| sleeper.due);
        for sleeper in due {
            // A sleeper that was dropped needs no waking.
            let _ = sleeper.wake.send(());
        }
    }

    /// How many sleep now.
    pub fn sleepers(&self) -> usize {
        let mut state = self.lock();
        state.sleepers.retain(|sleeper| !sleeper.wake.is_closed());
        state.sleepers.len()
    }

    /// Waits until at least `count` sleep, so that advancing the time cannot come too early.
    pub async fn wait_for_sleepers(&self, count: usize) {
        eventually("enough sleepers", || async {
            (self.sleepers() >= count).then_some(())
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> BootInstant {
        BootInstant::from_boot(self.lock().elapsed)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        // The deadline counts from the call, not from the first poll.
        let mut state = self.lock();
        if duration.is_zero() {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        let due = state.elapsed.saturating_add(duration);
        state.sleepers.push(Sleeper { due, wake });
        Box::pin(async move {
            // An error means that the clock is gone: nobody moves the time any more, so this never wakes.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn wall_time_millis(&self) -> u64 {
        u64::try_from(self.lock().elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn sleepers_wake_when_due_and_not_before() {
        let clock = ManualClock::new();
        let mut sleep = clock.sleep(Duration::from_secs(2));
        clock.advance(Duration::from_millis(1999));
        assert!((&mut sleep).now_or_never().is_none());
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_millis(1));
        assert!(sleep.now_or_never().is_some());
        assert_eq!(clock.sleepers(), 0);
        assert_eq!(clock.now().since_boot(), Duration::from_secs(2));
    }

    #[test]
    fn a_dropped_sleeper_does_not_count() {
        let clock = ManualClock::new();
        drop(clock.sleep(Duration::from_secs(1)));
        assert_eq!(clock.sleepers(), 0);
    }
}
