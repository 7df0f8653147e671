//! The write-ahead log of accepted requests. It knows bytes and positions, not telemetry.
//!
//! - `append`: `Journal`, the bounded queue in front of the one writer thread, group commit, trim.
//! - `writer`: one group into the active segment and onto the disk; sealing, rotation, recovery from failures.
//! - `replay`: opening: which segments there are, what of them is needed, what is missing or damaged.
//! - `reader`: the records of one segment, also of a damaged one.
//! - `segment`: the layout on disk: names, header, records, checksums.
//! - `times`: how long writing and syncing takes.
//! - `copy`: records, and the bytes of damaged ranges, read again to be kept elsewhere.
//! - `heartbeat`: whether a background thread is there and gets on, for the threads of the store too.
//! - `disk`: the seam to the file system, and the simulated disk that stands in for it in tests.
//!
//! Invariants: what was settled as durable is replayed, in order, until it is trimmed; a position is never used
//! twice; damage is reported, never returned as data; no outcome here depends on a
//! clock, and nothing looks inside a record.

#![forbid(unsafe_code)]

mod append;
mod copy;
pub mod disk;
mod errors;
#[cfg(any(test, feature = "sim"))]
pub mod fuzz;
pub mod heartbeat;
mod options;
mod reader;
mod replay;
mod segment;
mod segments;
pub mod sqlite_wal;
#[cfg(test)]
mod tests;
mod times;
mod writer;

pub use append::{Journal, Opened, Waiting};
pub use copy::{read_damaged, read_records};
pub use errors::{AppendError, OpenError};
pub use options::Options;
pub use replay::{CorruptRange, ReplayReport, TornTail, header_damage, inspect};
pub use segments::{DurableSegment, Hold};
pub use times::Times;

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
