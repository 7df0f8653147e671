//! The write-ahead log of accepted requests. It knows bytes and positions, not telemetry.
//!
//! - `append`: `Journal`, the bounded queue in front of the single writer thread, group commit, trim.
//! - `writer`: writes and syncs one group of records; seals, rotates and recovers segments after failures.
//! - `replay`: opens the segments, replays their records and reports missing and damaged ranges.
//! - `reader`: reads the records of one segment and skips damaged ranges.
//! - `segment`: the on-disk layout: file names, header, records, checksums.
//! - `latency`: a histogram of the time that groups take to become durable.
//! - `copy`: reads records and damaged ranges again, to copy them before they are trimmed.
//! - `heartbeat`: liveness of background threads, also of those of other crates.
//! - `disk`: the file system interface, and the simulated disk that replaces it in tests.
//!
//! Invariants: a record that was reported durable is replayed, in order, until it is trimmed. A position is never used
//! twice. Damage is reported and never returned as data. No result depends on a clock or on the content of a record.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod append;
mod copy;
pub mod disk;
mod errors;
#[cfg(any(test, feature = "sim"))]
pub mod fuzz;
pub mod heartbeat;
mod latency;
mod options;
mod reader;
mod replay;
mod segment;
mod segments;
pub mod sqlite_wal;
#[cfg(test)]
mod tests;
mod writer;

pub use append::{Backlog, Journal, Opened};
pub use copy::{read_damaged, read_records};
pub use errors::{AppendError, OpenError};
pub use latency::Latencies;
pub use options::Options;
pub use replay::{CorruptRange, ReplayReport, TornTail, header_damage, inspect};
pub use segments::{DurableSegment, TrimGuard};

use std::fmt;

/// A logical byte offset in the journal. It never decreases across segments, restarts and failures.
///
/// The position of a record is the offset just *after* it: "covered up to `p`" includes the record at `p`, and
/// `Position(0)` precedes every record.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
