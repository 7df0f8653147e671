//! Units that limits are told in.

use std::time::Duration;

/// Bytes in a kilobyte of 1024 bytes.
pub const KB: usize = 1 << 10;
/// Bytes in a megabyte of 10^6 bytes.
pub const MB: usize = 1_000_000;
/// Bytes in a mebibyte.
pub const MIB: usize = 1 << 20;

pub(crate) const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(crate) const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}
