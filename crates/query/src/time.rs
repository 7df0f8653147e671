//! Times of requests and responses: RFC 3339 in the API, nanoseconds since the epoch inside.

use jiff::Timestamp;

use crate::error::QueryError;
use tidewatch_domain::units::{DAY_NS, HOUR_NS, MINUTE_NS};
use tidewatch_limits as limits;

/// `from <= time < to`, nanoseconds since the epoch, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First nanosecond.
    pub from: i64,
    /// Nanosecond after the last.
    pub to: i64,
}

impl Range {
    /// All of time.
    pub const ALL: Range = Range { from: i64::MIN, to: i64::MAX };

    /// The range of a request. `to` defaults to now, `from` to 24 hours before `to`. `names`: the parameters in error
    /// messages. A malformed time is [`QueryError::Malformed`] (400), an end before the start
    /// [`QueryError::Unprocessable`] (422). Equal times are the range of that one nanosecond.
    pub fn read(from: Option<&str>, to: Option<&str>, now_ns: i64, names: [&str; 2]) -> Result<Range, QueryError> {
        Range::read_or(from, to, now_ns, DAY_NS, names)
    }

    /// Like [`Range::read`], with a default length in nanoseconds.
    pub fn read_or(
        from: Option<&str>,
        to: Option<&str>,
        now_ns: i64,
        length: i64,
        [from_name, to_name]: [&str; 2],
    ) -> Result<Range, QueryError> {
        let given = |text: Option<&str>, name: &str| {
            text.filter(|text| !text.is_empty()).map(|text| parse(text, name)).transpose()
        };
        let to = match given(to, to_name)? {
            Some(to) => to,
            // The end is exclusive; the default range includes records of this nanosecond.
            None => now_ns.saturating_add(1),
        };
        let from = given(from, from_name)?.unwrap_or(to.saturating_sub(length));
        if to < from {
            return Err(QueryError::unprocessable(format!("{to_name} is before {from_name}")));
        }
        Ok(Range { from, to: to.max(from.saturating_add(1)) })
    }

    /// The range of a list request, see [`Range::read`].
    pub fn of_list(from: Option<&str>, to: Option<&str>, now_ns: i64) -> Result<Range, QueryError> {
        Range::read(from, to, now_ns, ["fromDate", "toDate"])
    }

    /// The range of [`limits::SPAN_WINDOW`] before and after `at`. Spec: span, rule 3.
    pub fn around(at: i64) -> Range {
        let window = limits::SPAN_WINDOW.as_nanos() as i64;
        Range { from: at.saturating_sub(window), to: at.saturating_add(window).saturating_add(1) }
    }

    /// The smallest range that contains both.
    pub fn join(self, other: Range) -> Range {
        Range { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    /// Nanoseconds, at least 1.
    pub fn length(self) -> i64 {
        self.to.saturating_sub(self.from).max(1)
    }
}

/// Parses RFC 3339 with any offset into nanoseconds since the epoch. `name`: the parameter in the error message of
/// [`QueryError::Malformed`].
pub fn parse(text: &str, name: &str) -> Result<i64, QueryError> {
    let malformed = || QueryError::malformed(format!("{name} is not an RFC 3339 time"));
    let timestamp: Timestamp = text.trim().parse().map_err(|_| malformed())?;
    i64::try_from(timestamp.as_nanosecond()).map_err(|_| malformed())
}

/// Like [`parse`]; `None` when absent or empty.
pub fn parse_optional(text: Option<&str>, name: &str) -> Result<Option<i64>, QueryError> {
    text.filter(|text| !text.is_empty()).map(|text| parse(text, name)).transpose()
}

/// Formats RFC 3339 in UTC, without trailing zeros in the fraction of a second.
pub fn to_rfc3339(time_ns: i64) -> String {
    // Every i64 of nanoseconds is in the years 1677 to 2262, which a Timestamp can represent.
    Timestamp::from_nanosecond(time_ns.into()).unwrap_or_default().to_string()
}

/// Time buckets of equal width, aligned to the epoch, so that a moving range keeps its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Start of the first bucket, at or before the range's start; nanoseconds since the epoch.
    pub origin: i64,
    /// Nanoseconds.
    pub width: i64,
    /// Number of buckets, at least 1.
    pub count: i64,
}

impl Buckets {
    /// The buckets of `width_ns` that cover `range`. `width_ns` is above 0.
    pub fn over(range: Range, width_ns: i64) -> Buckets {
        let origin = range.from.saturating_sub(range.from.rem_euclid(width_ns));
        let count = (range.to.saturating_sub(origin).saturating_sub(1)) / width_ns + 1;
        Buckets { origin, width: width_ns, count: count.max(1) }
    }

    /// The narrowest buckets that cover the range with at most `count_max` (above 1) buckets. The width is at least
    /// `width_min_ns`, and a usual one: a number of minutes from the list, or whole days.
    pub fn at_most(range: Range, count_max: i64, width_min_ns: i64) -> Buckets {
        const MINUTES: [i64; 13] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440];
        let known = MINUTES.iter().map(|minutes| minutes * MINUTE_NS).filter(|width| *width >= width_min_ns);
        let mut fitting = known.map(|width| Buckets::over(range, width)).filter(|buckets| buckets.count <= count_max);
        fitting.next().unwrap_or_else(|| {
            // One bucket more than the length needs, because the first may start before the range.
            let days = (range.length() - 1) / (count_max - 1) / DAY_NS + 1;
            Buckets::over(range, days * DAY_NS)
        })
    }

    /// Starts of the buckets, ascending, nanoseconds since the epoch.
    pub fn starts(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |index| self.origin + index * self.width)
    }
}

/// Minutes per bucket when the request does not set them. WIRE 3.1.
pub fn automatic_minutes(range: Range) -> i64 {
    match range.length() {
        length if length < 2 * HOUR_NS => 1,
        length if length < 12 * HOUR_NS => 5,
        length if length < 48 * HOUR_NS => 15,
        length if length < 7 * DAY_NS => 60,
        _ => 240,
    }
}

/// Effective minutes per bucket: as requested (or automatic), raised until at most `points_max` buckets cover the
/// range.
///
/// Spec: `/api/metrics/query`, rule 3; WIRE 3.1: at least `ceil(seconds / (60 * (points_max - 1)))` minutes. One bucket
/// is reserved for a range that starts inside a bucket.
pub fn effective_minutes(requested_minutes: Option<i64>, range: Range, points_max: i64) -> i64 {
    let wanted = requested_minutes.filter(|minutes| *minutes > 0).unwrap_or_else(|| automatic_minutes(range));
    let per_bucket = MINUTE_NS * (points_max - 1);
    let least = (range.length() - 1) / per_bucket + 1;
    wanted.max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        parse(text, "t").unwrap()
    }

    #[test]
    fn times_are_parsed_and_formatted() {
        for (text, shown) in [
            ("2026-06-01T12:05:00.123456789Z", "2026-06-01T12:05:00.123456789Z"),
            ("2026-06-01T12:05:00.500Z", "2026-06-01T12:05:00.5Z"),
            ("2026-06-01T12:05:00Z", "2026-06-01T12:05:00Z"),
            ("2026-06-01T14:05:00+02:00", "2026-06-01T12:05:00Z"),
        ] {
            assert_eq!(to_rfc3339(at(text)), shown);
        }
        for malformed in ["yesterday", "2026-06-01", "2026-13-01T00:00:00Z", "9999-01-01T00:00:00Z", "12"] {
            assert!(matches!(parse(malformed, "to"), Err(QueryError::Malformed(_))), "{malformed}");
        }
        assert_eq!(to_rfc3339(0), "1970-01-01T00:00:00Z");
        to_rfc3339(i64::MIN);
        to_rfc3339(i64::MAX);
    }

    #[test]
    fn ranges_have_defaults_and_bounds() {
        let now = at("2026-06-02T00:00:00Z");
        let read = |from, to| Range::of_list(from, to, now);
        let (from, to) = ("2026-06-01T00:00:00Z", "2026-06-01T06:00:00Z");
        assert_eq!(read(Some(from), Some(to)).unwrap(), Range { from: at(from), to: at(to) });
        assert_eq!(read(None, None).unwrap(), Range { from: now + 1 - DAY_NS, to: now + 1 });
        assert_eq!(read(None, Some(to)).unwrap().from, at(to) - DAY_NS);
        assert_eq!(read(Some(from), Some(from)).unwrap().length(), 1, "equal is accepted");
        assert!(matches!(read(Some(to), Some(from)), Err(QueryError::Unprocessable(_))));
        assert!(matches!(read(Some("x"), None), Err(QueryError::Malformed(_))));
    }

    // Spec: /api/metrics/query, rule 3. WIRE 3.1.
    #[test]
    fn bucket_widths_follow_the_request_and_the_range() {
        for (length, requested_minutes, expected) in [
            (HOUR_NS, None, 1),
            (2 * HOUR_NS, None, 5),
            (12 * HOUR_NS, None, 15),
            (48 * HOUR_NS, None, 60),
            (7 * DAY_NS, None, 240),
            (731 * DAY_NS, None, 527),
            (HOUR_NS, Some(0), 1),
            (HOUR_NS, Some(-5), 1),
            (HOUR_NS, Some(7), 7),
            (7 * DAY_NS, Some(1), 6),
            (1999 * MINUTE_NS, Some(1), 1),
            (1999 * MINUTE_NS + 1, Some(1), 2),
            (1, None, 1),
        ] {
            let range = Range { from: 0, to: length };
            let minutes = effective_minutes(requested_minutes, range, 2000);
            assert_eq!(minutes, expected, "{length} {requested_minutes:?}");
            for shift in [0, 1, MINUTE_NS - 1] {
                let range = Range { from: shift, to: shift + length };
                assert!(Buckets::over(range, minutes * MINUTE_NS).count <= 2000);
            }
        }
    }

    #[test]
    fn extreme_ranges_do_not_overflow() {
        for range in
            [Range::ALL, Range { from: i64::MIN, to: i64::MIN + 1 }, Range { from: i64::MAX - 1, to: i64::MAX }]
        {
            let minutes = effective_minutes(Some(1), range, 2000);
            let buckets = Buckets::over(range, minutes.saturating_mul(MINUTE_NS));
            assert!((1..=2000).contains(&buckets.starts().count()), "{range:?}");
            assert!(Buckets::at_most(range, 24, MINUTE_NS).starts().count() <= 24, "{range:?}");
        }
    }

    #[test]
    fn buckets_do_not_exceed_their_maximum_count() {
        for length in [1, MINUTE_NS, HOUR_NS, DAY_NS - 1, DAY_NS, DAY_NS + 1, 31 * DAY_NS, 731 * DAY_NS] {
            for shift in [0, 1, HOUR_NS - 1] {
                let range = Range { from: shift, to: shift + length };
                let buckets = Buckets::at_most(range, 24, MINUTE_NS);
                assert!(buckets.count <= 24, "{length} {shift}: {buckets:?}");
                let last = buckets.origin + buckets.count * buckets.width;
                assert!(buckets.origin <= range.from && range.to <= last, "{length} {shift}: {buckets:?}");
            }
        }
    }
}
