//! Waiting between attempts.

use std::time::Duration;

/// First wait of [`Backoff::default`] (seed 002: `min(1000 * 2^n, 30000)` ms).
const INITIAL: Duration = Duration::from_secs(1);
/// Longest wait of [`Backoff::default`].
const MAXIMUM: Duration = Duration::from_secs(30);

/// Waits that double from attempt to attempt up to a bound, with jitter, so that many processes that lost the
/// same server do not come back at the same moment.
#[derive(Clone, Debug)]
pub struct Backoff {
    initial: Duration,
    maximum: Duration,
    attempt: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(INITIAL, MAXIMUM)
    }
}

impl Backoff {
    /// Waits of `min(initial * 2^n, maximum)`.
    pub fn new(initial: Duration, maximum: Duration) -> Self {
        Self {
            initial,
            maximum,
            attempt: 0,
        }
    }

    /// The wait before the next attempt, without jitter.
    pub fn next_delay(&mut self) -> Duration {
        let factor = 1u32.checked_shl(self.attempt.min(31)).unwrap_or(u32::MAX);
        self.attempt = self.attempt.saturating_add(1);
        self.initial.saturating_mul(factor).min(self.maximum)
    }

    /// The wait before the next attempt: between half of it and all of it, by `random` (any bits).
    pub fn next_delay_with_jitter(&mut self, random: u64) -> Duration {
        let half = self.next_delay() / 2;
        // 16 bits of randomness are plenty for spreading reconnects.
        let share = f64::from(u16::try_from(random & 0xffff).unwrap_or(0)) / f64::from(u16::MAX);
        half + half.mul_f64(share)
    }

    /// Begins anew after a success.
    pub fn reset(&mut self) {
        self.attempt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_bound_and_begins_anew_after_reset() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..7).map(|_| backoff.next_delay().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        for _ in 0..100 {
            assert_eq!(backoff.next_delay().as_secs(), 30);
        }
        backoff.reset();
        assert_eq!(backoff.next_delay().as_secs(), 1);
    }

    #[test]
    fn jitter_stays_between_half_and_whole() {
        for random in [0, 1, 0xffff, u64::MAX] {
            let wait = Backoff::default().next_delay_with_jitter(random);
            assert!(
                wait >= Duration::from_millis(500) && wait <= Duration::from_secs(1),
                "{wait:?}"
            );
        }
    }
}
