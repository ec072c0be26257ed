use std::time::Duration;

/// The longest wait for the next line, so that a slow pace stays attentive.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Keeps a job to a number of lines a second, counted from its start. Pure: it is told how long it has run.
#[derive(Clone, Debug)]
pub struct Throttle {
    lines_per_second: Option<u64>,
    lines: u64,
}

impl Throttle {
    /// A pace; as fast as it can where `None`.
    pub fn new(lines_per_second: Option<u64>) -> Self {
        Self {
            lines_per_second,
            lines: 0,
        }
    }

    /// How many lines may be read now, `elapsed` after the start. `None`: any number.
    pub fn allowed(&self, elapsed: Duration) -> Option<u64> {
        let pace = u128::from(self.lines_per_second?);
        let due = pace.saturating_mul(elapsed.as_millis()) / 1000;
        Some(u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.lines))
    }

    /// How long to wait, `elapsed` after the start, until a line is allowed.
    pub fn wait(&self, elapsed: Duration) -> Duration {
        let Some(pace) = self.lines_per_second else {
            return Duration::ZERO;
        };
        let due = (u128::from(self.lines) + 1) * 1000 / u128::from(pace.max(1)) + 1;
        Duration::from_millis(u64::try_from(due).unwrap_or(u64::MAX))
            .saturating_sub(elapsed)
            .clamp(Duration::from_millis(1), MAX_WAIT)
    }

    /// Lines were read.
    pub fn read(&mut self, lines: u64) {
        self.lines = self.lines.saturating_add(lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_due_with_time() {
        let mut throttle = Throttle::new(Some(10));
        assert_eq!(throttle.allowed(Duration::ZERO), Some(0));
        assert_eq!(throttle.allowed(Duration::from_secs(1)), Some(10));
        throttle.read(10);
        assert_eq!(throttle.allowed(Duration::from_secs(1)), Some(0));
        let wait = throttle.wait(Duration::from_secs(1));
        assert!(
            throttle.allowed(Duration::from_secs(1) + wait) >= Some(1),
            "{wait:?}"
        );
        assert_eq!(Throttle::new(None).allowed(Duration::ZERO), None);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut throttle = Throttle::new(Some(u64::MAX));
        throttle.read(u64::MAX);
        let _ = (throttle.allowed(Duration::MAX), throttle.wait(Duration::MAX));
    }
}
