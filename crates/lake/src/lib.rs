//! The embedded engine of [`tidewatch_store`]: a memtable, immutable Parquet parts, a SQLite catalog, one data directory.
//!
//! ```text
//! Rows ──apply──> memtable ──seal──> sealed ──flush──> parts + keys ──one transaction──> catalog ──> journal trimmed
//!                    └────────────────┴───────────────────┴── ask: every row exactly once, the newest included
//! ```
//!
//! - [`Lake`] is the whole interface. [`Lake::apply`] is called in journal order by one thread, live and in replay.
//! - In: [`memtable`] takes rows, [`dedup`] leaves out what was received before, [`names`] bounds the names of a day.
//! - Down: [`write`] makes parts of a memtable, [`merge`] makes few parts of many, [`catalog`] says which parts exist,
//!   [`rollup`] and [`index`] add sections to a part. [`settle`] applies every change of the catalog.
//! - Out: [`Lake::sources`] names what may answer a plan, [`scan`] answers it. [`part`] reads with positioned reads.
//! - Later: [`retention`] removes rows and days, [`rewrite`] changes them, [`lost`] keeps what must not be unlinked.
//! - Threads: [`workers`] flush, merge and retain; [`schedule`] says which thread goes first.
//!
//! Invariants: a part is registered only after it, its temporary name and its folder are synced, and has its own name only
//! after that; parts appear and the journal position advances in the same transaction; a reader sees a row in the memtable or in a part, never in both.

mod added_columns;
pub mod attr_columns;
mod catalog;
pub mod check;
mod clock;
mod dedup;
mod engine;
mod error;
pub mod index;
mod lost;
mod maintenance;
mod memtable;
mod merge;
mod names;
mod open;
mod options;
pub mod part;
mod retention;
mod rewrite;
mod rollup;
pub mod scan;
mod schedule;
mod set_aside;
mod settle;
mod sort;
pub mod source;
mod state;
mod trusted_time;
mod warm;
mod workers;
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
pub(crate) use tidewatch_store::columns::{NO_KEY, Rows, Twin};
use tidewatch_store::days::{self, day_name, day_of};
use tidewatch_store::plan::{Filter, Key, Plan, Shape};
use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, TelemetryStore};

pub use crate::part::removal::Hold;
pub use crate::retention::disk_budget::DISK_BUDGET;
pub use crate::schedule::thread_priority::{come_first, stand_back};
pub use clock::Clock;
pub use dedup::{UNTIMED_WINDOW_NS, WINDOW_NS};
pub use lost::{LOST_DAYS, Lost, LostStats};
pub use names::OTHER_NAME;
pub use options::{DiskBudget, FreeBytes, GiveUp, KeepRecords, LakeOptions, MergeOptions, RollupOptions};
pub use part::{Part, PartFacts, PartFile};
pub use scan::RowCursor;
pub use set_aside::set_part_aside;
pub use source::Source;
pub use trusted_time::{CONFIRMED_AFTER, DAYS_PER_HOUR};

use dedup::Seen;
use names::{Day, NamedDay};
use state::Shared;
use workers::Workers;

/// The store of one data directory. Dropping it stops its threads and flushes nothing: the journal has it all.
pub struct Lake {
    /// Before `shared`, so that threads end first.
    workers: Workers,
    shared: Arc<Shared>,
}

/// Reading the stored names of one day; the journal waits meanwhile.
const NAMES_READ_MAX: Duration = Duration::from_secs(30);

/// What became of a request's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applied {
    /// Records with rows.
    pub stored: usize,
    /// Records received before.
    pub duplicates: usize,
}

/// Whether an exception is stored already under its other name: from its span, or from a log record. DECISIONS 9.
///
/// A log record's twin on a span counts once, whichever came first; events of one span each count, as always.
fn is_told(seen: &mut Seen, twin: Twin, received_ns: i64) -> bool {
    let (own, other) = if twin.is_log { (twin.as_log, twin.as_span) } else { (twin.as_span, twin.as_log) };
    let is_first = seen.insert(own, received_ns);
    if twin.is_log { !is_first || seen.contains(other) } else { is_first && seen.contains(other) }
}

impl Lake {
    /// Opens or creates the lake, removes what a crash left behind, and starts its threads.
    ///
    /// Refused when the catalog is damaged, or is missing beside parts. Files that are not listed and that no crash of
    /// ours explains are moved to `lost/`.
    ///
    /// The journal is to be replayed from [`Lake::covered`] before new requests are applied.
    pub fn open(options: LakeOptions) -> Result<Lake, StoreError> {
        let background = options.background;
        let shared = Arc::new(open::open(options)?);
        let workers = if background { Workers::start(&shared) } else { Workers::none() };
        Ok(Lake { workers, shared })
    }

    /// Parts hold everything up to here; replay the journal from here, trim it up to here.
    pub fn covered(&self) -> Position {
        self.shared.state.lock().covered
    }

    /// Takes the rows of one request; the next question sees them.
    ///
    /// Called in the order of the journal, by one thread at a time: `position` is just after the request's record and
    /// grows from call to call (a position that was applied already is ignored). `request_key` stands for the body and
    /// its project, [`NO_KEY`] for none; `received_ns` is when it was accepted. Live or replayed, the same calls store
    /// the same rows. Never waits for the disk to write; see [`Lake::is_behind`].
    pub fn apply(&self, position: Position, request_key: u128, received_ns: i64, mut rows: Rows) -> Applied {
        // A clock that was set back must not make what comes look old.
        let received_until = received_ns.max(self.shared.latest_trusted.load(Ordering::Relaxed));
        let mut seen = self.shared.seen.lock();
        {
            let mut state = self.shared.state.lock();
            if position <= state.active.position {
                return Applied::default();
            }
            // Rows of different days of receipt have different latest days in storage (`days::latest_day`).
            let is_earlier = |received: i64| day_of(received) < day_of(received_until);
            if state.active.received_max.is_some_and(is_earlier) && state.sealed.is_empty() {
                state.seal(&mut seen);
                self.shared.wake.notify_all();
            }
        }
        let records = rows.fates.len();
        let mut refused_before = 0;
        let is_new = match rows.is_untimed {
            _ if request_key == NO_KEY => true,
            true => seen.insert_untimed(request_key, received_ns),
            false => seen.insert(request_key, received_ns),
        };
        let (duplicates, count) = if !is_new {
            refused_before = rows.refused;
            (Some(vec![true; records]), rows.records())
        } else {
            let flags = seen.insert_all(&rows.keys, received_ns);
            let count = flags.iter().filter(|duplicate| **duplicate).count();
            (if count > 0 { Some(flags) } else { None }, count)
        };
        let is_duplicate = |record: usize| duplicates.as_ref().is_some_and(|flags| flags[record]);
        for table in rows.tables.iter_mut().filter(|table| !table.twins.is_empty()) {
            table.drop_twins(|record, twin| !is_duplicate(record as usize) && is_told(&mut seen, twin, received_ns));
        }
        let renamed = self.shared.names.lock().limit(&mut rows, is_duplicate, |day| self.stored_names(day));
        let is_stored =
            |record: &usize| rows.fates[*record] == tidewatch_store::columns::Fate::Kept && !is_duplicate(*record);
        self.shared.highest_project.fetch_max(rows.project, Ordering::Relaxed);
        let applied = Applied { stored: (0..records).filter(is_stored).count(), duplicates: count };

        let mut state = self.shared.state.lock();
        state.newest_received = state.newest_received.max(Some(received_ns));
        let row_bytes_max = self.shared.options.row_bytes_max(state.index_bytes);
        let active = &mut state.active;
        active.counts().add_request(received_ns, &rows, is_duplicate, refused_before, renamed);
        if applied.stored > 0 || !rows.tables.is_empty() {
            active.append(rows, duplicates.as_deref());
        }
        active.position = position;
        active.received_max = active.received_max.max(Some(received_until));
        active.since.get_or_insert_with(Instant::now);
        let options = &self.shared.options;
        let is_full = active.rows() >= options.flush_rows
            || active.bytes() + seen.active_bytes() >= row_bytes_max / 3
            // Records that are dropped leave a key and no row.
            || seen.active_keys() >= options.flush_rows.saturating_mul(4);
        if is_full {
            state.seal(&mut seen);
            self.shared.wake.notify_all();
        }
        self.shared.tell_filled(&state);
        applied
    }

    /// The names of a day that are stored, in parts and in memory.
    fn stored_names(&self, (table, project, day): NamedDay) -> Day {
        let mut names = Day::default();
        let (from, to) = days::bounds(day);
        let keys = ["server_name", "name"].map(Key::column).to_vec();
        let shape = Shape::Groups { keys, aggregates: Vec::new(), order: Vec::new(), limit: usize::MAX, offset: 0 };
        let plan = Plan { table, projects: vec![project], from, to, filter: Filter::True, shape };
        let mut read = || {
            let stored = Answer::new(scan::run(&plan, &self.sources(&plan), Instant::now() + NAMES_READ_MAX)?);
            let (services, texts) = (stored.text("server_name")?, stored.text("name")?);
            (0..stored.rows()).for_each(|row| names.add(services.at(row).as_bytes(), texts.at(row).as_bytes()));
            Ok::<(), StoreError>(())
        };
        if let Err(error) = read() {
            let (table, day) = (table.name(), day_name(day));
            tracing::warn!(%error, project, "cannot read the names of {table} of {day}: they are counted anew: {error}");
        }
        names
    }

    /// Every row that may answer a plan of this table, projects and time, exactly once.
    pub fn sources(&self, plan: &Plan) -> Vec<Source> {
        self.shared.state.lock().sources(plan)
    }

    /// Answers a plan over all rows applied so far. Blocks: not for async threads. See [`scan::run_rolled`].
    pub fn ask(&self, plan: &Plan, deadline: Instant) -> Result<RecordBatch, StoreError> {
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

    /// The journal's record at `position` is passed over: it has no rows, and counts as applied. In the order of
    /// [`Lake::apply`].
    pub fn pass_over(&self, position: Position) {
        let mut state = self.shared.state.lock();
        if position > state.active.position {
            state.active.position = position;
            state.active.since.get_or_insert_with(Instant::now);
        }
    }

    /// Of the threads that work in the background.
    pub fn heartbeats(&self) -> &[Heartbeat] {
        self.workers.heartbeats()
    }

    /// Memtables since the start of which rows were set aside because they cannot be encoded.
    pub fn set_aside(&self) -> u64 {
        self.shared.set_aside.load(Ordering::Relaxed)
    }

    /// Flushes all that was applied so far.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.shared.flush_all()
    }

    /// Called with [`Lake::covered`] now and whenever it has grown, from any thread.
    pub fn set_on_covered(&self, callback: impl Fn(Position) + Send + Sync + 'static) {
        self.shared.set_on_covered(Box::new(callback));
    }

    /// Merges what is worth merging on the UTC day of `now_ns`; the number of merges done.
    pub fn merge(&self, now_ns: i64) -> Result<usize, StoreError> {
        let mut merges = 0;
        while self.shared.merge_once(now_ns, &mut || false)? {
            merges += 1;
        }
        Ok(merges)
    }

    /// Drops the parts of days before `day` (days since 1970-01-01, UTC). Bytes given back to the disk.
    pub fn drop_before(&self, table: Table, day: i32) -> Result<u64, StoreError> {
        Ok(self.shared.drop_parts(table, &|part| part.facts.day < day)?.bytes)
    }

    /// While the hold lives, no file of a part or of keys is unlinked.
    pub fn hold_files(&self) -> Hold {
        self.shared.layout.removal.hold()
    }

    /// Writes a copy of the catalog, as of its last transaction, to a new file. Not synced.
    pub fn copy_catalog(&self, to: &Path) -> Result<(), StoreError> {
        self.shared.catalog.lock().copy_to(to)
    }

    /// Ends the replay. [`Lake::counted`] leaves out what was counted until now, which an earlier run counted already;
    /// retention and the expiry of retry keys begin, which the replay needed.
    pub fn replayed(&self) {
        self.shared.state.lock().start_counting();
        self.shared.start_time();
    }

    /// Removes what is due, as the lake does by itself once a minute: what is kept no longer by [`Lake::trusted_now`], and
    /// what exceeds the disk's budget.
    pub fn remove_due(&self) {
        self.shared.remove_due(&mut || false);
    }

    /// Drops the oldest days when more of the disk is used than [`LakeOptions::budget`] allows. Bytes given back.
    pub fn keep_within_budget(&self, now_ns: i64) -> Result<u64, StoreError> {
        self.shared.keep_within_budget(now_ns)
    }

    /// `lost/`: files that were set aside rather than removed.
    pub fn lost(&self) -> &Lost {
        &self.shared.lost
    }

    /// Stops the threads and flushes.
    pub fn shutdown(mut self) -> Result<(), StoreError> {
        self.workers.stop();
        self.shared.flush_all()
    }
}
