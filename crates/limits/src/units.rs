//! Units that limits are told in.

use std::time::Duration;

/// Bytes in a kilobyte of 1024 bytes.
pub const KB: usize = 1 << 10;
/// Bytes in a megabyte of 10^6 bytes.
pub const MB: usize = 1_000_000;
/// Bytes in a mebibyte.
pub const MIB: usize = 1 << 20;

/// Nanoseconds in a second; this crate does not know the units of the domain.
pub(crate) const SECOND_NS: i64 = seconds(1).as_nanos() as i64;

pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(crate) const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}
