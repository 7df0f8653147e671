//! Time zones: instants, and what the clocks of the zone show then.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// A time zone.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone with an IANA name; `None`: it is unknown.
    pub fn named(name: &str) -> Option<Zone> {
        if name == "UTC" {
            return Some(Zone(TimeZone::UTC));
        }
        TimeZone::get(name).ok().map(Zone)
    }

    /// Civil time of the zone at an instant.
    pub fn civil(&self, at_ns: i64) -> DateTime {
        self.0.to_datetime(timestamp(at_ns))
    }

    /// The first instant at which the clocks show `civil` or have passed it. Of a time that clocks skip: the change.
    pub fn first(&self, civil: DateTime) -> i64 {
        match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => instant(offset, civil),
            AmbiguousOffset::Fold { before, .. } => instant(before, civil),
            AmbiguousOffset::Gap { before, after } => self.change_after(instant(after, civil), instant(before, civil)),
        }
    }

    /// Every instant at which the clocks show `civil`, or the change that skips it.
    pub fn all(&self, civil: DateTime) -> Vec<i64> {
        match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Fold { before, after } => vec![instant(before, civil), instant(after, civil)],
            _ => vec![self.first(civil)],
        }
    }

    /// The changes of the clocks in `from_ns..to_ns`.
    pub fn changes(&self, from_ns: i64, to_ns: i64) -> Vec<i64> {
        let before = timestamp(from_ns).checked_sub(1.nanosecond()).unwrap_or(Timestamp::MIN);
        let all = self.0.following(before).map(|change| nanoseconds(change.timestamp()));
        all.take_while(|at| *at < to_ns).collect()
    }

    /// The first change after `from_ns`, at most `to_ns`.
    fn change_after(&self, from_ns: i64, to_ns: i64) -> i64 {
        let next = self.0.following(timestamp(from_ns)).next();
        next.map_or(to_ns, |change| nanoseconds(change.timestamp()).min(to_ns))
    }
}

fn instant(offset: Offset, civil: DateTime) -> i64 {
    offset.to_timestamp(civil).map_or(i64::MAX, nanoseconds)
}

/// The instant of nanoseconds since the epoch.
pub fn timestamp(at_ns: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(at_ns)).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(if at > Timestamp::UNIX_EPOCH { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_and_repeated_times_are_those_of_the_change() {
        for (zone, civil, first, count) in [
            ("Europe/Berlin", "2026-01-05T09:00", "2026-01-05T08:00:00Z", 1),
            ("Europe/Berlin", "2026-07-06T09:00", "2026-07-06T07:00:00Z", 1),
            // Clocks skip 02:00 to 03:00.
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z", 1),
            ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00:00Z", 1),
            ("Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z", 1),
            // Clocks show 02:00 to 03:00 twice.
            ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00Z", 2),
            ("Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z", 1),
            // Half an hour.
            ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00Z", 1),
            // At midnight.
            ("America/Santiago", "2026-09-06T00:30", "2026-09-06T04:00:00Z", 1),
            ("UTC", "2026-03-29T02:30", "2026-03-29T02:30:00Z", 1),
        ] {
            let found = Zone::named(zone).expect("a zone");
            let civil: DateTime = civil.parse().expect("a time");
            let expected: Timestamp = first.parse().expect("an instant");
            assert_eq!(timestamp(found.first(civil)), expected, "{zone} {civil}");
            assert_eq!(found.all(civil).len(), count, "{zone} {civil}");
        }
        assert!(Zone::named("Europe/Atlantis").is_none());
        assert!(Zone::named("").is_none());
    }
}
