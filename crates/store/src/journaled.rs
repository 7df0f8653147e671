//! An engine behind a journal: the seam of ingest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidewatch_journal::Position;
use tidewatch_journal::heartbeat::Heartbeat;

use crate::columns::Rows;
use crate::{StoreError, TelemetryStore};

/// Called with the reason of a failure that the process must not survive.
pub type OnFatal = Arc<dyn Fn(&str) + Send + Sync>;

/// Copies the journal's records of `from < position <= to` to a folder of lost files. The copy is durable when the
/// function returns.
pub type KeepRecords = Arc<dyn Fn(&dyn LostFiles, Position, Position) -> Result<(), StoreError> + Send + Sync>;

/// Called with the rows of a request before they are stored, and with whether a record, by index, was received before.
pub type Observer<'a> = dyn FnMut(&Rows, &dyn Fn(usize) -> bool) + 'a;

/// Opens the engine of a data directory. Called again for each attempt at a replay, after the engine of the attempt
/// before it was dropped.
pub type OpenEngine<'a> = dyn Fn(KeepRecords) -> Result<Arc<dyn JournaledStore>, StoreError> + 'a;

/// The outcome of a request's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applied {
    /// Number of records with rows.
    pub stored: usize,
    /// Number of records that were received before.
    pub duplicates: usize,
}

/// Number and size of the files that were set aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostStats {
    /// Number of files.
    pub files: u64,
    /// Size of all files, in bytes.
    pub bytes: u64,
}

/// Files that were set aside because it cannot be proved that they may be removed.
pub trait LostFiles {
    /// Writes `bytes` under the day `today` (days since 1970-01-01, UTC) and `name`, a path relative to the data
    /// directory. Returns the path of the file. Durable on return. Logs nothing.
    fn keep(&self, name: &Path, bytes: &[u8], today: i32) -> Result<PathBuf, StoreError>;

    /// Number and size of the files.
    fn stats(&self) -> LostStats;
}

/// An engine whose rows are durable in a journal before it has them. Dropping it flushes nothing, because the journal has
/// every row.
///
/// The caller replays the journal from [`JournaledStore::covered`] before it applies new requests.
pub trait JournaledStore: TelemetryStore {
    /// The journal position up to which the engine's files hold every row: the start of a replay, and the end of what
    /// may be trimmed.
    fn covered(&self) -> Position;

    /// Stores the rows of one request; subsequent queries see them.
    ///
    /// Called in journal order, by one thread at a time: `position` is just after the request's record and grows from
    /// call to call (a position that was already applied is ignored). `request_key` identifies the body and its project
    /// ([`crate::columns::NO_KEY`]: no key); `received_ns` is the time of acceptance. The same calls store the same rows,
    /// live or replayed. Calls `observe` with the rows just before they are stored, not for a position that was already
    /// applied. Never waits for disk writes; see [`TelemetryStore::is_behind`].
    fn apply_observed(
        &self,
        position: Position,
        request_key: u128,
        received_ns: i64,
        rows: Rows,
        observe: &mut Observer<'_>,
    ) -> Applied;

    /// Like [`JournaledStore::apply_observed`], without an observer.
    fn apply(&self, position: Position, request_key: u128, received_ns: i64, rows: Rows) -> Applied {
        self.apply_observed(position, request_key, received_ns, rows, &mut |_, _| {})
    }

    /// Counts the journal's record at `position`, which has no rows, as applied. Called in the order of
    /// [`JournaledStore::apply`].
    fn skip_record(&self, position: Position);

    /// Waits until the engine is no longer behind; false when `timeout` passes first. A replay calls this between
    /// requests.
    fn wait_while_behind(&self, timeout: Duration) -> bool;

    /// Ends the replay. [`TelemetryStore::outcome_counts`] excludes the counts up to now, which an earlier run counted
    /// already. Retention and the expiry of retry keys begin; the replay needed the keys.
    fn replayed(&self);

    /// Registers a callback that is called with [`JournaledStore::covered`] now and whenever it grows, from any thread.
    fn set_on_covered(&self, callback: Box<dyn Fn(Position) + Send + Sync>);

    /// Flushes all rows applied so far. Fails when they cannot be written; the rows then stay in memory.
    fn flush(&self) -> Result<(), StoreError>;

    /// Number of memtables since the start with rows that were set aside because they cannot be encoded.
    fn set_aside(&self) -> u64;

    /// Files that were set aside instead of removed.
    fn lost(&self) -> &dyn LostFiles;

    /// Heartbeats of the engine's threads.
    fn heartbeats(&self) -> &[Heartbeat];
}
