use std::time::Duration;

use crate::error::{Error, Result};

/// The longest tick that is assumed where none is configured: ZooKeeper's default `tickTime`.
const DEFAULT_TICK: Duration = Duration::from_secs(2);
/// The shortest margin.
const MINIMUM_MARGIN: Duration = Duration::from_millis(50);

/// The times that a lease depends on; valid by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerms {
    session_timeout: Duration,
    tick: Duration,
}

impl LeaseTerms {
    /// The terms of a session with the *negotiated* timeout `session_timeout`, on servers whose `tickTime` is
    /// `server_tick` (`None`: `min(2 s, T/2)`; the client cannot ask for it).
    ///
    /// # Errors
    /// `Invalid` when no lease could be renewed before it ends, with the values: `T − tick − T/4 − margin`
    /// must be positive. At least 6 ticks are recommended for `T`.
    pub fn new(session_timeout: Duration, server_tick: Option<Duration>) -> Result<Self> {
        let tick = server_tick.unwrap_or_else(|| DEFAULT_TICK.min(session_timeout / 2));
        if tick.is_zero() {
            return Err(Error::invalid("the server's tick time is zero")
                .advise("set high-availability.zookeeper.server-tick-time to the tickTime of the servers"));
        }
        let terms = Self {
            session_timeout,
            tick,
        };
        let needed = tick
            .saturating_add(session_timeout / 4)
            .saturating_add(terms.margin());
        if needed >= session_timeout {
            return Err(Error::invalid(format!(
                "the session timeout T = {session_timeout:?} is too short for the server's tick time {tick:?}: \
                 no lease can be renewed in time, because T - tick - T/4 - margin (margin {:?}) is not positive",
                terms.margin()
            ))
            .advise("use a session timeout of at least 6 ticks, and state the servers' tickTime"));
        }
        Ok(terms)
    }

    /// The negotiated session timeout T.
    pub fn session_timeout(&self) -> Duration {
        self.session_timeout
    }

    /// The servers' tick.
    pub fn tick(&self) -> Duration {
        self.tick
    }

    /// By how much a lease ends before the session could: `max(T/20, 50 ms)`.
    pub fn margin(&self) -> Duration {
        (self.session_timeout / 20).max(MINIMUM_MARGIN)
    }

    /// How long after the send time of the newest heartbeat that counts a lease ends: `T − margin`.
    pub fn duration(&self) -> Duration {
        self.session_timeout.saturating_sub(self.margin())
    }

    /// The time from one heartbeat to the next: T/8.
    pub fn heartbeat_interval(&self) -> Duration {
        self.session_timeout / 8
    }

    /// Heartbeats sent closer together than this are one: T/64. It bounds what a lease remembers.
    pub(super) fn resolution(&self) -> Duration {
        self.session_timeout / 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn defaults_are_those_of_the_design() {
        let terms = LeaseTerms::new(ms(40_000), None).unwrap();
        assert_eq!(terms.tick(), ms(2_000));
        assert_eq!(terms.margin(), ms(2_000));
        assert_eq!(terms.duration(), ms(38_000));
        assert_eq!(terms.heartbeat_interval(), ms(5_000));
        let short = LeaseTerms::new(ms(600), None).unwrap();
        assert_eq!((short.tick(), short.margin()), (ms(300), ms(50)));
    }

    #[test]
    fn a_timeout_that_leaves_no_time_to_renew_is_refused_with_its_values() {
        for (timeout, tick) in [
            (ms(4_000), Some(ms(3_000))),
            (ms(2_000), Some(ms(2_000))),
            (ms(200), None),
            (Duration::ZERO, None),
            (Duration::MAX, Some(Duration::MAX)),
            (ms(6_000), Some(Duration::ZERO)),
        ] {
            let error = LeaseTerms::new(timeout, tick).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{timeout:?} {tick:?}");
        }
        let text = LeaseTerms::new(ms(4_000), Some(ms(3_000)))
            .unwrap_err()
            .to_string();
        for value in ["4s", "3s", "200ms"] {
            assert!(text.contains(value), "{text}");
        }
    }
}
