//! A clock that stands still until a unit test moves it.

use std::time::Duration;

use tokio::sync::watch;

use crate::environment::{BootInstant, BoxFuture, Clock};

/// Stands still until it is moved; sleepers wake when their time is reached.
pub(crate) struct TestClock {
    now: watch::Sender<BootInstant>,
}

impl Default for TestClock {
    fn default() -> Self {
        Self {
            now: watch::Sender::new(BootInstant::from_boot(Duration::from_secs(1_000))),
        }
    }
}

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now = *now + by);
    }
}

impl Clock for TestClock {
    fn now(&self) -> BootInstant {
        *self.now.borrow()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        let mut now = self.now.subscribe();
        let end = self.now() + duration;
        Box::pin(async move {
            // A clock that is gone wakes nobody.
            if now.wait_for(|now| *now >= end).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn wall_time_millis(&self) -> u64 {
        0
    }
}
