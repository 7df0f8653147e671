//! The state that the threads share, and the flush that moves rows from memory to parts.
//!
//! Locks are taken in this order: `settling`, `flushing`, `maintenance`, `in_doubt`, `catalog`, `dedup`, `stacks`, `names`, `calls`, `usage`, `state`;
//! `catalog` is never held with `dedup` or `state`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parking_lot::{Condvar, Mutex};
use tidewatch_journal::Position;
use tidewatch_journal::disk::DiskLock;

use crate::catalog::{Catalog, FlushRecord};
use crate::dedup::file::DedupFile;
use crate::dedup::{DedupSet, KeySet};
use crate::ingest::calls::Calls;
use crate::ingest::names::Names;
use crate::ingest::stacks::KnownStacks;
use crate::ingest::usage::Usage;
use crate::lifecycle::trusted_time::TrustedTime;
use crate::lost::Lost;
use crate::memtable::buffer_pool::BufferPool;
use crate::memtable::counts::Counts;
use crate::memtable::{Memtable, Sealed};
use crate::merge::policy;
use crate::options::LakeOptions;
use crate::part::{Part, PartFacts};
use crate::scan::source::Source;
use crate::schedule::background_throttle::PAUSE_FACTOR;
use crate::write::flush;
use crate::write::flush::Layout;
use tidewatch_store::Gap;
use tidewatch_store::OutcomeCount;
use tidewatch_store::days::day_of;
use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::QueryMemory;
use tidewatch_store::retention::ProjectRetention;
use tidewatch_store::tables::Table;
use tidewatch_store::{CompletedWork, OnWorkCompleted, Stats, StoreError, TableStats, Work};
use tidewatch_store::{KeepRecords, OnFatal};

/// Number of flushes of a memtable that fail on its rows before these are set aside.
const DEFECTS_MAX: u32 = 3;

/// Maximum number of sealed memtables; with more, flushing is behind.
const SEALED_MAX: usize = 2;

type OnCovered = Box<dyn Fn(Position) + Send + Sync>;

pub struct Shared {
    pub options: LakeOptions,
    pub layout: Layout,
    pub catalog: Mutex<Catalog>,
    /// Held during a flush; the files of a flush whose transaction has failed so far.
    pub flushing: Mutex<Option<WrittenFiles>>,
    /// Replacements whose outcome is unknown.
    pub in_doubt: Mutex<Vec<InDoubt>>,
    /// Held during a merge or a rewrite.
    pub maintenance: Mutex<()>,
    pub dedup: Mutex<DedupSet>,
    pub names: Mutex<Names>,
    pub calls: Mutex<Calls>,
    pub usage: Mutex<Usage>,
    /// Held while AI Traces are compared with the store.
    pub settling: Mutex<()>,
    pub stacks: Mutex<KnownStacks>,
    /// The memory budget of all queries.
    pub query_memory: Arc<QueryMemory>,
    pub state: Mutex<State>,
    /// Notified after a seal or a flush, and on stop.
    pub wake: Condvar,
    pub on_covered: Mutex<Option<OnCovered>>,
    pub on_work_completed: OnceLock<OnWorkCompleted>,
    /// `None` until the replay has ended.
    pub time: Mutex<Option<TrustedTime>>,
    /// The latest trusted time of this and earlier runs, nanoseconds; `i64::MIN`: none.
    pub latest_trusted: AtomicI64,
    /// The trusted time that the catalog has stored under [`TIME_NOTE`].
    pub noted_time: Mutex<Option<i64>>,
    /// The disk budget was nearly used up at the last check.
    pub is_budget_short: AtomicBool,
    /// Buffers of flushed rows, reused for new rows.
    pub buffer_pool: Arc<BufferPool>,
    pub lost: Lost,
    /// The error of the last flush; `None` when it succeeded.
    pub flush_failure: Mutex<Option<String>>,
    /// Number of memtables with rows that were set aside because they cannot be encoded.
    pub set_aside: AtomicU64,
    /// Number of listed files that were missing or had another length at the start.
    pub missing_files: usize,
    /// The highest project number of any row ever stored, including rows in memory.
    pub highest_project: AtomicU32,
    /// Prevents other processes from using the directory.
    pub _lock: DiskLock,
}

/// A replacement whose COMMIT failed while the catalog could not be read.
pub enum InDoubt {
    Parts { ids: Vec<u64>, written: Vec<PartFacts> },
    Keys { ids: Vec<u64>, with: Option<DedupFile> },
}

/// The files of a flush before they are registered.
pub struct WrittenFiles {
    parts: Vec<PartFacts>,
    keys: Option<DedupFile>,
    gaps: Vec<Gap>,
    covered: Position,
}

/// The state that queries read; a flush or a merge changes it in one step.
pub struct State {
    pub active: Memtable,
    /// Sealed memtables, oldest first, each with the keys received during its time.
    pub sealed: VecDeque<(Arc<Sealed>, Arc<KeySet>)>,
    /// By table number, each sorted by age (`first_id`): rows that compare equal are in the order of their parts.
    pub parts: Vec<Vec<Arc<Part>>>,
    /// Ranges with rows that are in no part.
    pub gaps: Vec<Gap>,
    pub covered: Position,
    /// Size of the filters and indexes of flushed keys at the last seal or flush, in bytes.
    pub index_bytes: usize,
    /// Retention of individual projects.
    pub project_retention: Arc<ProjectRetention>,
    /// Whether `project_retention` was set since the last removal of rows.
    pub is_project_retention_new: bool,
    /// Sum of the counts of all sealed memtables.
    pub sealed_counts: Counts,
    /// The counts at the call of [`State::start_counting`].
    pub counts_before: Counts,
    /// The latest time of receipt in parts, key files and memory; nanoseconds.
    pub newest_received: Option<i64>,
    pub stopping: bool,
    buffer_pool: Arc<BufferPool>,
}

impl State {
    pub fn new(covered: Position, parts: Vec<Part>, buffer_pool: &Arc<BufferPool>) -> State {
        let mut by_table = vec![Vec::new(); Table::ALL.len()];
        for part in parts {
            by_table[part.facts.table as usize].push(Arc::new(part));
        }
        by_table.iter_mut().for_each(|parts| parts.sort_by_key(|part| part.facts.first_id));
        State {
            active: Memtable::new(covered, Arc::clone(buffer_pool)),
            sealed: VecDeque::new(),
            parts: by_table,
            gaps: Vec::new(),
            covered,
            index_bytes: 0,
            project_retention: Arc::default(),
            is_project_retention_new: false,
            sealed_counts: Counts::default(),
            counts_before: Counts::default(),
            newest_received: None,
            stopping: false,
            buffer_pool: Arc::clone(buffer_pool),
        }
    }

    /// Seals the active memtable and its keys for flushing, unless it is empty.
    pub fn seal(&mut self, dedup: &mut DedupSet) {
        if self.active.since.is_none() {
            return;
        }
        self.sealed_counts.add_summed(self.active.counted());
        let next = Memtable::new(self.active.position, Arc::clone(&self.buffer_pool));
        let sealed = std::mem::replace(&mut self.active, next).seal();
        self.sealed.push_back((Arc::new(sealed), dedup.seal(self.buffer_pool.take_keys())));
        self.index_bytes = dedup.index_bytes();
    }

    /// The counts since the lake was opened, summed over projects and minutes.
    fn counts(&self) -> Counts {
        let mut counts = self.sealed_counts.clone();
        counts.add_summed(self.active.counted());
        counts
    }

    pub fn start_counting(&mut self) {
        self.counts_before = self.counts();
    }

    pub fn outcome_counts(&self) -> Vec<OutcomeCount> {
        self.counts().since(&self.counts_before)
    }

    /// Size of all rows in memory, in bytes.
    fn memory_bytes(&self) -> usize {
        self.active.bytes() + self.sealed.iter().map(|(sealed, _)| sealed.bytes).sum::<usize>()
    }

    /// Memory of all rows in memory with their keys and spare capacity, in bytes.
    fn held_bytes(&self) -> usize {
        let sealed = self.sealed.iter().map(|(sealed, keys)| sealed.held + keys.bytes());
        self.active.held() + sealed.sum::<usize>()
    }

    pub fn sources(&mut self, plan: &Plan) -> Vec<Source> {
        let table = plan.table as usize;
        let parts = self.parts[table].iter().filter(|part| !part.misses(&plan.projects, plan.from, plan.to));
        let mut sources: Vec<Source> = parts.map(|part| Source::Part(Arc::clone(part))).collect();
        let sealed = self.sealed.iter().flat_map(|(sealed, _)| sealed.tables[table].iter().cloned());
        sources.extend(sealed.map(Source::Memory));
        sources.extend(self.active.snapshot(plan.table).into_iter().map(Source::Memory));
        sources
    }
}

/// See [`Shared::publishing`].
pub struct Publishing<'a>(&'a OnFatal);

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)("a panic while parts were being published");
        }
    }
}

impl Shared {
    /// Seals the active memtable and flushes all sealed ones.
    pub fn flush_all(&self) -> Result<(), StoreError> {
        {
            let mut dedup = self.dedup.lock();
            self.state.lock().seal(&mut dedup);
        }
        while self.flush_oldest()? {}
        Ok(())
    }

    /// Flushes the oldest sealed memtable; false when there is none. On an error, the memtable and its rows stay.
    pub fn flush_oldest(&self) -> Result<bool, StoreError> {
        let mut flushing = self.flushing.lock();
        let Some((sealed, keys)) = self.state.lock().sealed.front().cloned() else { return Ok(false) };

        let start = Instant::now();
        let flushed = self.flush_sealed(&sealed, &keys, &mut flushing);
        if flushed.as_ref().is_err_and(flush::is_defect) {
            sealed.defects.fetch_add(1, Ordering::Relaxed);
        }
        *self.flush_failure.lock() = flushed.as_ref().err().map(ToString::to_string);
        let rows = flushed.as_ref().map_or(0, |rows| *rows);
        self.work_completed(CompletedWork {
            work: Work::Flush,
            took: start.elapsed(),
            rows,
            has_failed: flushed.is_err(),
        });
        drop(flushing);
        if flushed.is_ok() {
            // Only queries may still hold batches of them.
            Arc::into_inner(sealed).into_iter().for_each(|sealed| sealed.recycle_into(&self.buffer_pool));
            Arc::into_inner(keys).into_iter().for_each(|keys| self.buffer_pool.give_keys(keys));
        }
        flushed.map(|_| true)
    }

    /// Returns the number of rows written. `written` has the files of an earlier attempt: a flush whose files are on
    /// the disk only repeats its transaction.
    fn flush_sealed(
        &self,
        sealed: &Sealed,
        keys: &KeySet,
        written: &mut Option<WrittenFiles>,
    ) -> Result<u64, StoreError> {
        if written.as_ref().is_none_or(|written| written.covered != sealed.position) {
            *written = Some(self.write_sealed(sealed, keys)?);
        }
        let WrittenFiles { parts, keys, gaps, covered } = written.as_ref().expect("it was just written");
        let dedup = keys.as_ref().map(|file| &file.facts);
        self.catalog.lock().record_flush(&FlushRecord { parts, dedup, gaps, covered: *covered })?;
        let publishing = self.publishing();
        let WrittenFiles { parts: facts, keys: file, gaps, covered } = written.take().expect("it was just registered");
        self.layout.publish(&facts);
        file.iter().for_each(|file| self.layout.publish_keys(&file.facts));
        let rows: u64 = facts.iter().map(|facts| facts.rows).sum();

        let mut dedup = self.dedup.lock();
        let mut state = self.state.lock();
        dedup.finish_flush(file);
        state.index_bytes = dedup.index_bytes();
        state.sealed.pop_front();
        for facts in facts {
            let part = self.part(facts);
            state.parts[part.facts.table as usize].push(part);
        }
        state.gaps.extend(gaps);
        state.covered = covered;
        drop((state, dedup, publishing));
        self.wake.notify_all();
        self.notify_covered();
        Ok(rows)
    }

    /// Writes the files of a flush. On an error, no file remains.
    fn write_sealed(&self, sealed: &Sealed, keys: &KeySet) -> Result<WrittenFiles, StoreError> {
        let mut gaps = Vec::new();
        let parts = match &self.options.keep_records {
            Some(keep) if sealed.defects.load(Ordering::Relaxed) >= DEFECTS_MAX => {
                let (parts, left_out) = flush::write_sound_parts(&self.layout, sealed, keys)?;
                self.keep_unencodable(sealed, &left_out, keep).inspect_err(|_| self.layout.discard(&parts))?;
                gaps.extend(left_out.into_iter().map(|table| self.gap_of(table, sealed)));
                parts
            }
            _ => flush::write_parts(&self.layout, sealed, keys)?,
        };
        let keys = flush::write_keys(&self.layout, keys).inspect_err(|_| self.layout.discard(&parts))?;
        Ok(WrittenFiles { parts, keys, gaps, covered: sealed.position })
    }

    /// Copies the journal's records of a memtable to `lost/` before its position counts as covered without all of its
    /// rows.
    fn keep_unencodable(&self, sealed: &Sealed, left_out: &[Table], keep: &KeepRecords) -> Result<(), StoreError> {
        if left_out.is_empty() {
            return Ok(());
        }
        let (from, to) = (self.state.lock().covered, sealed.position);
        keep(&self.lost, from, to)?;
        self.set_aside.fetch_add(1, Ordering::Relaxed);
        let tables: Vec<&str> = left_out.iter().map(|table| table.name()).collect();
        tracing::error!(%from, %to, ?tables, "rows that cannot be written as parts were set aside; their journal records are in lost/");
        Ok(())
    }

    /// The gap that the missing rows of a table leave.
    fn gap_of(&self, table: Table, sealed: &Sealed) -> Gap {
        let batches = &sealed.tables[table as usize];
        let of =
            |name: &str| batches.iter().filter_map(|batch| batch.column_by_name(name)).cloned().collect::<Vec<_>>();
        let times: Vec<i64> =
            of("time").iter().flat_map(|times| times.as_primitive::<Int64Type>().values().to_vec()).collect();
        let (time_min, time_max) =
            (times.iter().min().copied().unwrap_or(i64::MIN), times.iter().max().copied().unwrap_or(i64::MAX));
        Gap {
            id: self.layout.next_id(),
            table,
            // The last day, so that the gap is forgotten with the newest of its rows.
            day: day_of(time_max),
            rows: times.len() as u64,
            time_min,
            time_max,
            // Every project, because rows in memory do not store their project individually. A gap of too many projects
            // is still correct.
            project_min: 0,
            project_max: u32::MAX,
        }
    }

    /// Held while the catalog and the visible state differ. A panic meanwhile ends the process, because rows would be
    /// visible twice or not at all.
    pub fn publishing(&self) -> Publishing<'_> {
        Publishing(&self.options.on_fatal)
    }

    pub fn work_completed(&self, completed: CompletedWork) {
        if let Some(callback) = self.on_work_completed.get() {
            callback(&completed);
        }
    }

    /// Reports to the throttle how much of the memory that is available until the flush ends is used.
    pub fn update_throttle(&self, state: &State) {
        let held = state.held_bytes();
        let flushing = held - state.active.held();
        let available = if state.sealed.len() > 1 {
            0
        } else {
            self.options.row_bytes_max(state.index_bytes).saturating_sub(flushing)
        };
        self.layout.throttle.set_filled(held - flushing, available);
    }

    /// The pause of a merge, in multiples of its working time: as long as it works, and [`PAUSE_FACTOR`] times as long
    /// while queries run, unless too many merges are pending.
    pub fn merge_pause_factor(&self) -> u32 {
        let is_on_time = || self.state.lock().parts.iter().all(|parts| !policy::is_behind(parts, self.options.merge));
        if self.layout.throttle.has_queries() && is_on_time() { PAUSE_FACTOR } else { 1 }
    }

    /// Whether flushing cannot keep up with incoming rows.
    pub fn is_behind(&self, state: &State) -> bool {
        state.sealed.len() > SEALED_MAX
            // Without a sealed memtable, waiting would not free memory.
            || (!state.sealed.is_empty() && state.held_bytes() >= self.options.row_bytes_max(state.index_bytes))
    }

    pub fn part(&self, facts: PartFacts) -> Arc<Part> {
        Arc::new(self.layout.part(facts))
    }

    pub fn set_on_covered(&self, callback: OnCovered) {
        *self.on_covered.lock() = Some(callback);
        self.notify_covered();
    }

    fn notify_covered(&self) {
        let callback = self.on_covered.lock();
        let covered = self.state.lock().covered;
        if let Some(callback) = callback.as_ref() {
            callback(covered);
        }
    }

    pub fn stats(&self) -> Stats {
        let key_files = self.dedup.lock().files().map(|file| file.bytes()).collect::<Vec<_>>();
        let state = self.state.lock();
        let table = |table: Table| {
            let parts = &state.parts[table as usize];
            let sealed = state.sealed.iter().flat_map(|(sealed, _)| &sealed.tables[table as usize]);
            TableStats {
                table,
                parts: parts.len(),
                suspects: parts.iter().filter(|part| part.is_suspect()).count(),
                rows: parts.iter().map(|part| part.facts.rows).sum(),
                bytes: parts.iter().map(|part| part.facts.bytes).sum(),
                memory_rows: sealed.map(|batch| batch.num_rows()).sum::<usize>() + state.active.rows_of(table),
                time_min: parts.iter().map(|part| part.facts.time_min).min(),
            }
        };
        Stats {
            tables: Table::ALL.into_iter().map(table).collect(),
            memory_bytes: state.memory_bytes(),
            held_bytes: state.held_bytes(),
            sealed: state.sealed.len(),
            key_files: key_files.len(),
            key_bytes: key_files.iter().sum(),
            missing_files: self.missing_files,
        }
    }
}
