//! Durations as they are written in a configuration.

use std::time::Duration;

/// The longest duration that is taken, about 136 years: far beyond any sensible value, and far below the
/// point where adding it to an instant could overflow.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

/// Reads `30 s`, `500 ms`, `1 min`, or a bare number of milliseconds. The units are Flink's: `d`, `h`, `min`
/// or `m`, `s`, `ms`, `us` or `µs`, `ns`, and their long names; the space may be left out.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .map_or(text, |end| text.split_at(end).0);
    if digits.is_empty() {
        return Err(
            "is no duration; write for example `30 s`, `500 ms` or a number of milliseconds".to_owned(),
        );
    }
    let unit = text.strip_prefix(digits).unwrap_or_default().trim_start();
    let Some(nanoseconds_per_unit) = nanoseconds_per(unit) else {
        return Err(format!(
            "has the unknown unit {unit:?}; the units are d, h, min, s, ms, us, ns"
        ));
    };
    let duration = digits
        .parse::<u64>()
        .ok()
        .and_then(|count| u128::from(count).checked_mul(nanoseconds_per_unit))
        .and_then(|nanoseconds| {
            let seconds = u64::try_from(nanoseconds / 1_000_000_000).ok()?;
            let rest = u32::try_from(nanoseconds % 1_000_000_000).ok()?;
            Some(Duration::new(seconds, rest))
        });
    match duration {
        Some(duration) if duration <= LONGEST => Ok(duration),
        _ => Err("is too long a duration; it may be at most 4294967295 s".to_owned()),
    }
}

fn nanoseconds_per(unit: &str) -> Option<u128> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "d" | "day" | "days" => 86_400 * 1_000_000_000,
        "h" | "hour" | "hours" => 3_600 * 1_000_000_000,
        "min" | "m" | "minute" | "minutes" => 60 * 1_000_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "us" | "µs" | "micro" | "micros" | "microsecond" | "microseconds" => 1_000,
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_forms_of_the_documentation() {
        for (text, milliseconds) in [
            ("30 s", 30_000),
            ("500 ms", 500),
            ("500", 500),
            ("1 min", 60_000),
            ("1m", 60_000),
            ("2h", 7_200_000),
            ("1 d", 86_400_000),
            (" 7 seconds ", 7_000),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text:?}");
        }
        assert_eq!(parse("3 µs"), Ok(Duration::from_micros(3)));
        assert_eq!(parse("3 ns"), Ok(Duration::from_nanos(3)));
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "s",
            "-1 s",
            "1.5 s",
            "1 s 2 ms",
            "ten s",
            "1 fortnight",
            "99999999999999999999 s",
            "4294967296 s",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = parse(&text);
        }

        #[test]
        fn never_panics_on_numbers_with_units(number in "[0-9]{1,40}", unit in "[a-zµ ]{0,12}") {
            let _ = parse(&format!("{number}{unit}"));
        }

        #[test]
        fn milliseconds_come_back(count in 0u32..=u32::MAX) {
            prop_assert_eq!(parse(&count.to_string()), Ok(Duration::from_millis(u64::from(count))));
        }
    }
}
