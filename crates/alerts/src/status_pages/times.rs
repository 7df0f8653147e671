//! Times as status pages write them: UTC.

use jiff::Timestamp;
use tidewatch_domain::units::MINUTE_NS;

fn timestamp(ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// RFC 3339, to the second.
pub fn rfc3339(ns: i64) -> String {
    timestamp(ns).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `25 November 2026`.
pub(super) fn date(ns: i64) -> String {
    timestamp(ns).strftime("%-d %B %Y").to_string()
}

/// `25 November 2026, 14:05 UTC`.
pub(super) fn minute(ns: i64) -> String {
    timestamp(ns).strftime("%-d %B %Y, %H:%M UTC").to_string()
}

/// `3 h 5 min`.
pub(super) fn duration(ns: i64) -> String {
    let minutes = ns.max(0) / MINUTE_NS;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations() {
        let at = 1_795_427_040_000_000_000;
        assert_eq!(rfc3339(at), "2026-11-23T09:44:00Z");
        assert_eq!(minute(at), "23 November 2026, 09:44 UTC");
        assert_eq!(date(at), "23 November 2026");
        for (seconds, expected) in [
            (-5, "less than a minute"),
            (59, "less than a minute"),
            (60, "1 min"),
            (3900, "1 h 5 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(seconds * 1_000_000_000), expected);
        }
    }
}
