//! Spans and times as people read them.

use std::time::Duration;

use ha_cli::timestamp;

/// A short span, `12 ms` or `3.4 s`.
pub(super) fn span(duration: Duration) -> String {
    match duration.as_millis() {
        0 => "under 1 ms".to_owned(),
        millis @ 1..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{:.1} s", duration.as_secs_f64()),
        _ => age(duration),
    }
}

/// How long something has been: its two greatest units, `3 min 5 s`.
pub(super) fn age(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// The time of day this long before `now`.
pub(super) fn time_before(now_millis: u64, duration: Duration) -> String {
    let elapsed = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    timestamp(now_millis.saturating_sub(elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_units_that_matter() {
        for (millis, told) in [
            (0, "under 1 ms"),
            (1, "1 ms"),
            (999, "999 ms"),
            (1500, "1.5 s"),
            (61_000, "1 min 1 s"),
        ] {
            assert_eq!(span(Duration::from_millis(millis)), told);
        }
        for (seconds, told) in [
            (0, "0 s"),
            (59, "59 s"),
            (3599, "59 min 59 s"),
            (3600, "1 h 0 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(age(Duration::from_secs(seconds)), told);
        }
        assert_eq!(
            time_before(61_000, Duration::from_secs(60)),
            "1970-01-01T00:00:01Z"
        );
    }
}
