//! Limits of journal, memtable, stored files and retention.

use std::time::Duration;

use crate::units::{MIB, minutes, seconds};

/// Target size of a file of journal records that were set aside, bytes.
pub const LOST_FILE_BYTES: usize = 8 * MIB;
/// A larger blob is written and read in parts of this size, bytes.
pub const BLOB_PART_BYTES: usize = 8 * MIB;
/// Concurrent calls of the store of blobs.
pub const BLOB_CALLS_MAX: usize = 16;
/// Rows in the memtable before a flush.
pub const FLUSH_ROWS: usize = 262_144;
/// Size of the memtable in mebibytes; an eighth is flushed at a time.
pub const MEMTABLE_MB: usize = 256;
/// Age of the memtable's oldest request at which it is flushed, seconds.
pub const FLUSH_SECONDS: u64 = 30;
/// Default retention of telemetry, days.
pub const RETENTION_DAYS: u32 = 30;
/// Total size of the journal's segments, bytes. When it is reached, exports get 503 until the store has caught up.
pub const JOURNAL_BYTES_MAX: u64 = 2 << 30;
/// Size of the accepted bodies that wait to be written to the journal, bytes.
pub const JOURNAL_QUEUE_BYTES_MAX: usize = 64 * MIB;
/// Decoded requests that a replay buffers ahead of the one it applies.
pub const REPLAY_AHEAD: usize = 4;
/// Interval at which a replay that waits for a flush checks whether flushes fail.
pub const REPLAY_CHECK_PAUSE: Duration = seconds(1);
/// Time that a replay waits for a flush before it logs that it waits.
pub const REPLAY_WAIT: Duration = seconds(30);
/// Interval at which the retention of projects is passed to the store and deleted projects are purged.
pub const RETENTION_PAUSE: Duration = seconds(15);
/// Time from the deletion of a project to its purge; exports and uploads that were in flight then have ended.
pub const PURGE_DELAY: Duration = minutes(60);
/// Deadline of the query for remaining rows of a deleted project.
pub const PURGE_CHECK_MAX: Duration = minutes(1);
/// Maximum retention of a project, days.
pub const PROJECT_RETENTION_DAYS_MAX: u32 = 3650;
