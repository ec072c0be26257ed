use ha_core::environment::{BootInstant, BoxFuture, Clock, SystemClock};
use tokio::sync::watch;

/// The system's clock, which a test can hold: then no time passes for its process, and nothing that waits for a time
/// goes on, so that it does of itself nothing more.
#[derive(Default)]
pub(crate) struct HeldClock {
    /// Since when it is held.
    held: watch::Sender<Option<BootInstant>>,
}

impl HeldClock {
    pub(crate) fn hold(&self) {
        self.held.send_replace(Some(SystemClock.now()));
    }

    /// Lets it go: the time that has passed meanwhile has passed.
    pub(crate) fn release(&self) {
        self.held.send_replace(None);
    }
}

impl Clock for HeldClock {
    fn now(&self) -> BootInstant {
        self.held.borrow().unwrap_or_else(|| SystemClock.now())
    }

    fn sleep(&self, duration: std::time::Duration) -> BoxFuture<()> {
        let mut held = self.held.subscribe();
        Box::pin(async move {
            SystemClock.sleep(duration).await;
            // Without the clock nobody holds it.
            let _ = held.wait_for(Option::is_none).await;
        })
    }

    fn wall_time_millis(&self) -> u64 {
        SystemClock.wall_time_millis()
    }
}
