//! Subjects that got worse, and the minutes of their changes in answers.

use tidewatch_domain::changes::Change;
use tidewatch_domain::units::MINUTE_NS;

use super::read::Subject;
use super::versions::Origin;
use crate::time;

/// An Issue that is new within this many minutes of a change belongs to it.
pub(super) const NEAR_MINUTES: u64 = 10;

/// A subject that got worse.
pub(super) struct Found<'a> {
    pub(super) subject: &'a Subject,
    /// The most harmful first; never empty.
    pub(super) changes: Vec<Change>,
    /// Since when it fails, also if that is over.
    pub(super) failing_since: Option<i64>,
    pub(super) origin: Origin,
}

/// A minute since the epoch in RFC 3339.
pub(super) fn minute(minute: i64) -> String {
    time::to_rfc3339(minute.saturating_mul(MINUTE_NS))
}

/// The time of day of a minute since the epoch, in UTC.
pub(super) fn time_of_day(minute: i64) -> String {
    let of_day = minute.rem_euclid(24 * 60);
    format!("{:02}:{:02} UTC", of_day / 60, of_day % 60)
}
