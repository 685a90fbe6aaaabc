//! The time of day in UTC, as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as Kernel Tuner writes it: `2025-04-06 18:00:36.120070+00:00`.
pub fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    text(since.as_secs(), since.subsec_micros())
}

fn text(seconds: u64, micros: u32) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// Year, month and day of a number of days after 1 January 1970, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Days since 1 March of the year 0: a leap day ends its year, 400 years are as long.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) =
        (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let table = [
            (0, "1970-01-01 00:00:00.000000+00:00"),
            (951_782_399, "2000-02-28 23:59:59.000000+00:00"),
            (951_782_400, "2000-02-29 00:00:00.000000+00:00"),
            (951_868_800, "2000-03-01 00:00:00.000000+00:00"),
            (1_735_689_599, "2024-12-31 23:59:59.000000+00:00"),
            (4_107_542_400, "2100-03-01 00:00:00.000000+00:00"),
        ];
        for (seconds, expected) in table {
            assert_eq!(text(seconds, 0), expected);
        }
        assert!(now().as_str() > "2024");
    }
}
