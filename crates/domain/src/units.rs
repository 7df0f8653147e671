//! Units of time in nanoseconds, defined once for every crate.

/// Nanoseconds of a millisecond.
pub const MILLISECOND_NS: i64 = 1_000_000;
/// Nanoseconds of a second.
pub const SECOND_NS: i64 = 1_000_000_000;
/// Nanoseconds of a minute.
pub const MINUTE_NS: i64 = 60 * SECOND_NS;
/// Nanoseconds of an hour.
pub const HOUR_NS: i64 = 60 * MINUTE_NS;
/// Nanoseconds of a day.
pub const DAY_NS: i64 = 24 * HOUR_NS;
