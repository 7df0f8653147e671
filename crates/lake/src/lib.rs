//! The embedded engine of [`tidewatch_store`]: a memtable, immutable Parquet parts, a SQLite catalog, one data directory.
//!
//! ```text
//! Rows ──apply──> memtable ──seal──> sealed ──flush──> parts + keys ──one transaction──> catalog ──> journal trimmed
//!                    └────────────────┴───────────────────┴── query: every row exactly once, the newest included
//! ```
//!
//! - [`Lake`] is the whole interface. [`Lake::apply`] is called in journal order by one thread, live and during replay.
//! - In: [`memtable`] holds new rows, [`dedup`] drops records that were received before, [`ingest`] limits names and pairs
//!   the sides of calls.
//! - Down: [`write`] writes a memtable as parts, [`merge`] merges small parts into large ones, [`catalog`] lists the
//!   parts, [`rollup`] and [`index`] add sections to a part.
//! - Out: [`Lake::sources`] lists the sources of a plan, [`scan`] executes it. [`part`] uses positioned reads.
//! - Later: [`retention`] removes rows and days, [`lost`] keeps files that must not be unlinked.
//! - [`lifecycle`] opens the store, holds its state, and runs the threads that flush, merge and expire rows; [`schedule`]
//!   sets their priorities.
//!
//! Invariants: a part is registered only after its file, its temporary name and its folder are synced, and gets its
//! final name after that; parts appear and the journal position advances in the same transaction; a reader sees a row
//! either in the memtable or in a part, never in both.

#![warn(missing_docs)]

pub mod attr_columns;
mod catalog;
mod clock;
mod dedup;
mod engine;
mod error;
pub mod index;
mod ingest;
mod lifecycle;
mod lost;
mod memtable;
mod merge;
mod options;
pub mod part;
mod retention;
mod rollup;
pub mod scan;
mod schedule;
mod sort;
mod write;

mod batch;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tidewatch_journal::Position;
use tidewatch_journal::heartbeat::Heartbeat;

use tidewatch_store::answer::Answer;
pub(crate) use tidewatch_store::columns::{ExceptionKeys, NO_KEY, Rows};
use tidewatch_store::days::{self, day_name, day_of};
use tidewatch_store::plan::{Filter, Key, Plan, Shape};
use tidewatch_store::tables::Table;
use tidewatch_store::{Applied, Observer, StoreError, TelemetryStore};

pub use crate::part::removal::Hold;
pub use crate::retention::disk_budget::DISK_BUDGET;
pub use crate::schedule::thread_priority::{background, latency_sensitive};
pub use clock::Clock;
pub use dedup::{UNTIMED_WINDOW_NS, WINDOW_NS};
pub use ingest::names::OTHER_NAME;
pub use lifecycle::check;
pub use lifecycle::set_aside::set_part_aside;
pub use lifecycle::trusted_time::{CONFIRMED_AFTER, DAYS_PER_HOUR};
pub use lost::{LOST_DAYS, Lost};
pub use options::{DiskBudget, FreeBytes, LakeOptions, MergeOptions, RollupOptions};
pub use part::{Part, PartFacts, PartFile};
pub use scan::RowCursor;
pub use scan::source::Source;

use dedup::DedupSet;
use ingest::names::{Day, NamedDay};
use lifecycle::state::Shared;
use lifecycle::workers::Workers;

/// The store of one data directory. Dropping it stops its threads and flushes nothing, because the journal has every
/// row.
pub struct Lake {
    /// Declared before `shared`, so that the threads end first.
    workers: Workers,
    shared: Arc<Shared>,
}

/// Deadline for reading the stored names of one day; the journal waits meanwhile.
const NAMES_READ_MAX: Duration = Duration::from_secs(30);

/// Whether an exception is already stored under its other key, from its span or from a log record. DECISIONS 9.
///
/// An exception that is both on a span and in a log record counts once, whichever was received first. Events of one
/// span count one each.
fn is_duplicate_exception(dedup: &mut DedupSet, keys: ExceptionKeys, received_ns: i64) -> bool {
    let (own, other) = if keys.is_log { (keys.as_log, keys.as_span) } else { (keys.as_span, keys.as_log) };
    let is_first = dedup.insert(own, received_ns);
    if keys.is_log { !is_first || dedup.contains(other) } else { is_first && dedup.contains(other) }
}

/// Whether each record was received before; empty when the records have no keys.
fn duplicates(dedup: &mut DedupSet, rows: &Rows, received_ns: i64) -> Vec<bool> {
    if rows.groups.is_empty() {
        return dedup.insert_all(&rows.keys, received_ns);
    }
    let keys: Vec<u128> = rows.groups.iter().map(|(key, _)| *key).collect();
    let mut flags = vec![false; rows.fates.len()];
    for ((_, records), is_known) in rows.groups.iter().zip(dedup.insert_all(&keys, received_ns)) {
        flags[records.start as usize..records.end as usize].fill(is_known);
    }
    flags
}

impl Lake {
    /// Opens or creates the lake, removes files that a crash left behind, and starts its threads.
    ///
    /// Fails when the catalog is damaged, or is missing while parts exist. Unlisted files that no crash of this program
    /// explains are moved to `lost/`.
    ///
    /// The caller must replay the journal from [`Lake::covered`] before it applies new requests.
    pub fn open(options: LakeOptions) -> Result<Lake, StoreError> {
        let background = options.background;
        let shared = Arc::new(lifecycle::open::open(options)?);
        let workers = if background { Workers::start(&shared) } else { Workers::none() };
        Ok(Lake { workers, shared })
    }

    /// The journal position up to which parts hold every row: the start of a replay, and the end of what may be
    /// trimmed.
    pub fn covered(&self) -> Position {
        self.shared.state.lock().covered
    }

    /// Stores the rows of one request; subsequent queries see them.
    ///
    /// Called in journal order, by one thread at a time: `position` is just after the request's record and grows from
    /// call to call (a position that was already applied is ignored). `request_key` identifies the body and its project
    /// ([`NO_KEY`]: no key); `received_ns` is the time of acceptance. The same calls store the same rows, live or
    /// replayed. Never waits for disk writes; see [`Lake::is_behind`].
    pub fn apply(&self, position: Position, request_key: u128, received_ns: i64, rows: Rows) -> Applied {
        self.apply_observed(position, request_key, received_ns, rows, &mut |_, _| {})
    }

    /// Like [`Lake::apply`]. Calls `observe` with the rows just before they are stored, and with whether a record, by
    /// index, was received before; not for a position that was already applied.
    pub fn apply_observed(
        &self,
        position: Position,
        request_key: u128,
        received_ns: i64,
        mut rows: Rows,
        observe: &mut Observer<'_>,
    ) -> Applied {
        // A clock that was set back must not make new rows look old.
        let received_until = received_ns.max(self.shared.latest_trusted.load(Ordering::Relaxed));
        let mut dedup = self.shared.dedup.lock();
        {
            let mut state = self.shared.state.lock();
            if position <= state.active.position {
                return Applied::default();
            }
            // Rows of different days of receipt have different latest days in storage (`days::latest_day`).
            let is_earlier = |received: i64| day_of(received) < day_of(received_until);
            if state.active.received_max.is_some_and(is_earlier) && state.sealed.is_empty() {
                state.seal(&mut dedup);
                self.shared.wake.notify_all();
            }
        }
        let records = rows.fates.len();
        let mut refused_before = 0;
        let is_new = match rows.is_untimed {
            _ if request_key == NO_KEY => true,
            true => dedup.insert_untimed(request_key, received_ns),
            false => dedup.insert(request_key, received_ns),
        };
        let (duplicates, count) = if !is_new {
            refused_before = rows.refused;
            (Some(vec![true; records]), rows.records())
        } else {
            let flags = duplicates(&mut dedup, &rows, received_ns);
            let count = flags.iter().filter(|duplicate| **duplicate).count();
            (if count > 0 { Some(flags) } else { None }, count)
        };
        let is_duplicate = |record: usize| duplicates.as_ref().is_some_and(|flags| flags[record]);
        for table in rows.tables.iter_mut().filter(|table| !table.exception_keys.is_empty()) {
            table.drop_duplicate_exceptions(|record, keys| {
                !is_duplicate(record as usize) && is_duplicate_exception(&mut dedup, keys, received_ns)
            });
        }
        self.shared.stacks.lock().drop_known(&mut rows, is_duplicate);
        let renamed = self.shared.names.lock().limit(&mut rows, is_duplicate, |day| self.stored_names(day));
        self.shared.calls.lock().pair(&mut rows, is_duplicate);
        let corrections = self.shared.usage.lock().settle(&mut rows, received_ns, is_duplicate);
        let is_stored =
            |record: &usize| rows.fates[*record] == tidewatch_store::columns::Fate::Kept && !is_duplicate(*record);
        self.shared.highest_project.fetch_max(rows.project, Ordering::Relaxed);
        let applied = Applied { stored: (0..records).filter(is_stored).count(), duplicates: count };
        observe(&rows, &is_duplicate);

        let mut state = self.shared.state.lock();
        state.newest_received = state.newest_received.max(Some(received_ns));
        let row_bytes_max = self.shared.options.row_bytes_max(state.index_bytes);
        let active = &mut state.active;
        active.counts().add_request(received_ns, &rows, is_duplicate, refused_before, renamed);
        if applied.stored > 0 || !rows.tables.is_empty() {
            active.append(rows, duplicates.as_deref());
        }
        let left = active.correct(corrections);
        active.position = position;
        active.received_max = active.received_max.max(Some(received_until));
        active.since.get_or_insert_with(Instant::now);
        let options = &self.shared.options;
        let is_full = active.rows() >= options.flush_rows
            || active.bytes() + dedup.active_bytes() >= row_bytes_max / 3
            // Dropped records have a key and no row.
            || dedup.active_keys() >= options.flush_rows.saturating_mul(4);
        if is_full {
            state.seal(&mut dedup);
            self.shared.wake.notify_all();
        }
        self.shared.update_throttle(&state);
        drop(state);
        if !left.is_empty() {
            self.shared.usage.lock().add_pending(left);
        }
        applied
    }

    /// The names of a day that are stored in parts and in memory.
    fn stored_names(&self, (table, project, day): NamedDay) -> Day {
        let mut names = Day::default();
        let (from, to) = days::bounds(day);
        let keys = ["server_name", "name"].map(Key::column).to_vec();
        let shape = Shape::Groups { keys, aggregates: Vec::new(), order: Vec::new(), limit: usize::MAX, offset: 0 };
        let plan = Plan { table, projects: vec![project], from, to, filter: Filter::True, shape };
        let mut read = || {
            let stored = Answer::new(scan::run(&plan, &self.sources(&plan), Instant::now() + NAMES_READ_MAX)?);
            let (services, strings) = (stored.text("server_name")?, stored.text("name")?);
            (0..stored.rows()).for_each(|row| names.add(services.at(row).as_bytes(), strings.at(row).as_bytes()));
            Ok::<(), StoreError>(())
        };
        if let Err(error) = read() {
            let (table, day) = (table.name(), day_name(day));
            tracing::warn!(%error, project, "cannot read the names of {table} of {day}: they are counted anew: {error}");
        }
        names
    }

    /// The parts and memory batches that may have rows for the plan; each row is in exactly one of them.
    pub fn sources(&self, plan: &Plan) -> Vec<Source> {
        self.shared.state.lock().sources(plan)
    }

    /// Executes a plan over all rows applied so far. Blocks, so it must not run on async threads. See
    /// [`scan::run_with_rollups`].
    pub fn execute(&self, plan: &Plan, deadline: Instant) -> Result<RecordBatch, StoreError> {
        self.query(&self.request_memory(), plan, deadline)
    }

    /// Waits until the lake is no longer behind; false when `timeout` passes first. A replay calls this between
    /// requests.
    pub fn wait_while_behind(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.state.lock();
        while self.shared.is_behind(&state) {
            if self.shared.wake.wait_until(&mut state, deadline).timed_out() {
                return !self.shared.is_behind(&state);
            }
        }
        true
    }

    /// Counts the journal's record at `position`, which has no rows, as applied. Called in the order of
    /// [`Lake::apply`].
    pub fn skip_record(&self, position: Position) {
        let mut state = self.shared.state.lock();
        if position > state.active.position {
            state.active.position = position;
            state.active.since.get_or_insert_with(Instant::now);
        }
    }

    /// Heartbeats of the background threads; empty when [`LakeOptions::background`] is false.
    pub fn heartbeats(&self) -> &[Heartbeat] {
        self.workers.heartbeats()
    }

    /// Number of memtables since the start with rows that were set aside because they cannot be encoded.
    pub fn set_aside(&self) -> u64 {
        self.shared.set_aside.load(Ordering::Relaxed)
    }

    /// Flushes all rows applied so far. Fails when a part or the catalog cannot be written; the rows then stay in
    /// memory.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.shared.flush_all()
    }

    /// Registers a callback that is called with [`Lake::covered`] now and whenever it grows, from any thread.
    pub fn set_on_covered(&self, callback: impl Fn(Position) + Send + Sync + 'static) {
        self.shared.set_on_covered(Box::new(callback));
    }

    /// Compares the AI Traces of all requests with what is stored, and corrects stored rows. A thread does it in the
    /// background. Returns the number of corrected rows.
    pub fn settle_usage(&self) -> Result<usize, StoreError> {
        self.shared.settle_usage(&|| false)
    }

    /// Merges parts and key files until no merge is due on the UTC day of `now_ns`. Returns the number of merges.
    pub fn merge(&self, now_ns: i64) -> Result<usize, StoreError> {
        let mut merges = 0;
        while self.shared.merge_once(now_ns, &mut || false)? {
            merges += 1;
        }
        Ok(merges)
    }

    /// Drops the parts of days before `day` (days since 1970-01-01, UTC). Returns the bytes freed.
    pub fn drop_before(&self, table: Table, day: i32) -> Result<u64, StoreError> {
        Ok(self.shared.drop_parts(table, &|part| part.facts.day < day)?.bytes)
    }

    /// Prevents part and key files from being unlinked while the hold exists.
    pub fn hold_files(&self) -> Hold {
        self.shared.layout.removal.hold()
    }

    /// Writes a copy of the catalog, as of its last transaction, to a new file. Not synced.
    pub fn copy_catalog(&self, to: &Path) -> Result<(), StoreError> {
        self.shared.catalog.lock().copy_to(to)
    }

    /// Ends the replay. [`Lake::outcome_counts`] excludes the counts up to now, which an earlier run counted already.
    /// Retention and the expiry of retry keys begin; the replay needed the keys.
    pub fn replayed(&self) {
        self.shared.state.lock().start_counting();
        self.shared.start_time();
    }

    /// Removes rows and keys past their retention by [`Lake::trusted_now`], and the oldest days when the disk budget is
    /// exceeded. The lake does this itself once a minute.
    pub fn remove_due(&self) {
        self.shared.remove_due(&mut || false);
    }

    /// Drops the oldest days while the lake uses more of the disk than [`LakeOptions::budget`] allows. Returns the
    /// bytes freed.
    pub fn keep_within_budget(&self, now_ns: i64) -> Result<u64, StoreError> {
        self.shared.keep_within_budget(now_ns)
    }

    /// The folder `lost/`, with files that were set aside instead of removed.
    pub fn lost(&self) -> &Lost {
        &self.shared.lost
    }

    /// Stops the threads and flushes all rows.
    pub fn shutdown(mut self) -> Result<(), StoreError> {
        self.workers.stop();
        self.shared.flush_all()
    }
}
