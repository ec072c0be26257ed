/// Milliseconds since 1970 as `2026-11-30T09:03:42Z`; `-` for zero, which stands for unknown.
pub fn timestamp(millis: u64) -> String {
    if millis == 0 {
        return "-".to_owned();
    }
    let seconds = millis / 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let time = seconds % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// The date of a day counted from 1970 (Howard Hinnant's algorithm: years begin in March, eras have 400 years).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(timestamp(0), "-");
        assert_eq!(timestamp(1000), "1970-01-01T00:00:01Z");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(timestamp(1_796_029_422_999), "2026-11-30T09:03:42Z");
        assert_eq!(timestamp(4_107_542_399_000), "2100-02-28T23:59:59Z");
    }
}
