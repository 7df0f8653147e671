//! The write-ahead log of accepted requests. It knows bytes and positions, not telemetry.
//!
//! - `disk`: the seam to the file system, and the simulated disk that stands in for it in tests.
//!
//! Invariant: nothing here reads a clock or looks inside a record.

pub mod disk;

use std::fmt;

/// A logical byte offset in the journal; it only grows, across segments, restarts and failures.
///
/// The position of a record is the offset just *after* it, so "covered up to `p`" includes the record at `p`,
/// and `Position(0)` is before everything.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
