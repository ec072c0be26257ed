use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};

use super::{BootInstant, BoxFuture};

/// The source of time.
pub trait Clock: Send + Sync + 'static {
    /// Now. Never goes back.
    fn now(&self) -> BootInstant;

    /// Completes after `duration`, or later.
    fn sleep(&self, duration: Duration) -> BoxFuture<()>;

    /// Milliseconds since 1970, **for records that people read only**: no decision may use it.
    fn wall_time_millis(&self) -> u64;
}

/// The system's clock: CLOCK_BOOTTIME, which counts while a process is stopped and while the machine is
/// suspended (CLOCK_MONOTONIC does not count the latter); the monotonic clock where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(any(target_os = "linux", target_os = "android"))]
const LEASE_CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LEASE_CLOCK: ClockId = ClockId::Monotonic;

impl Clock for SystemClock {
    fn now(&self) -> BootInstant {
        let time = clock_gettime(LEASE_CLOCK);
        // Both parts are never negative on this clock.
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
        BootInstant::from_boot(Duration::new(seconds, nanos))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system"
    )]
    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep(duration))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system"
    )]
    fn wall_time_millis(&self) -> u64 {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |elapsed| {
                u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back() {
        let first = SystemClock.now();
        assert!(SystemClock.now() >= first);
        assert!(first.since_boot() > Duration::ZERO);
    }
}
