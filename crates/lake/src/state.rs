//! What the threads share: the visible state, and the flush that moves rows from memory to parts.
//!
//! Locks are taken in this order: `flushing`, `upkeep`, `unsettled`, `catalog`, `seen`, `names`, `state`; `catalog` is
//! never held with `seen` or `state`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parking_lot::{Condvar, Mutex};
use tidewatch_journal::Position;
use tidewatch_journal::disk::DiskLock;

use super::catalog::{Catalog, FlushRecord};
use super::dedup::file::SeenFile;
use super::dedup::{KeySet, Seen};
use super::lost::Lost;
use super::memtable::{Memtable, Sealed};
use super::names::Names;
use super::options::{GiveUp, KeepRecords, LakeOptions};
use super::part::{Part, PartFacts};
use super::source::Source;
use super::trusted_time::TrustedTime;
use crate::memtable::buffer_pool::SpareChunks;
use crate::memtable::counts::Counts;
use crate::merge::policy;
use crate::schedule::background_throttle::RESTS;
use crate::write::flush;
use crate::write::flush::Layout;
use tidewatch_store::Counted;
use tidewatch_store::Gap;
use tidewatch_store::days::day_of;
use tidewatch_store::plan::Plan;
use tidewatch_store::query_memory::QueryMemory;
use tidewatch_store::retention::Keeping;
use tidewatch_store::tables::Table;
use tidewatch_store::{OnWorked, Stats, StoreError, TableStats, Work, Worked};

/// Flushes of a memtable that fail on its rows before those are set aside.
const DEFECTS_MAX: u32 = 3;

/// More sealed memtables than this: flushing is behind.
const SEALED_MAX: usize = 2;

type OnCovered = Box<dyn Fn(Position) + Send + Sync>;

pub struct Shared {
    pub options: LakeOptions,
    pub layout: Layout,
    pub catalog: Mutex<Catalog>,
    /// One flush at a time; the files of one whose transaction has failed so far.
    pub flushing: Mutex<Option<Written>>,
    /// Replacements of which nobody knows whether they have happened.
    pub unsettled: Mutex<Vec<Unsettled>>,
    /// One merge at a time.
    pub upkeep: Mutex<()>,
    pub seen: Mutex<Seen>,
    pub names: Mutex<Names>,
    /// All questions borrow from it.
    pub query_memory: Arc<QueryMemory>,
    pub state: Mutex<State>,
    /// Signalled when something was sealed or flushed, and on stop.
    pub wake: Condvar,
    pub on_covered: Mutex<Option<OnCovered>>,
    pub on_worked: OnceLock<OnWorked>,
    /// `None` until the replay is over.
    pub time: Mutex<Option<TrustedTime>>,
    /// The latest time that was trusted, nanoseconds, also by earlier runs; `i64::MIN`: none.
    pub latest_trusted: AtomicI64,
    /// What the catalog notes as [`TIME_NOTE`].
    pub noted_time: Mutex<Option<i64>>,
    /// The disk's budget was nearly used up when last looked at.
    pub is_budget_short: AtomicBool,
    /// What flushes leave to the rows to come.
    pub spare: Arc<SpareChunks>,
    pub lost: Lost,
    /// Why the last flush failed; `None`: it did not.
    pub flush_failure: Mutex<Option<String>>,
    /// Memtables of which rows were set aside because they cannot be encoded.
    pub set_aside: AtomicU64,
    /// Listed files that were missing or had another length at the start.
    pub missing_files: usize,
    /// Of all rows that were ever here, those in memory included.
    pub highest_project: AtomicU32,
    /// No other process has this directory.
    pub _lock: DiskLock,
}

/// A replacement whose COMMIT failed while the catalog could not be asked.
pub enum Unsettled {
    Parts { table: Table, ids: Vec<u64>, written: Vec<PartFacts> },
    Keys { ids: Vec<u64>, with: Option<SeenFile> },
}

/// The files of a flush before they are registered.
pub struct Written {
    parts: Vec<PartFacts>,
    keys: Option<SeenFile>,
    gaps: Vec<Gap>,
    covered: Position,
}

/// What a question sees; changed in one step when a flush or a merge is done.
pub struct State {
    pub active: Memtable,
    /// Oldest first, each with the keys received meanwhile.
    pub sealed: VecDeque<(Arc<Sealed>, Arc<KeySet>)>,
    /// By table number, each by age (`first_id`): rows that are equal in an order stand in that of their parts.
    pub parts: Vec<Vec<Arc<Part>>>,
    /// Rows that are in no part.
    pub gaps: Vec<Gap>,
    pub covered: Position,
    /// Of the keys of rows that are in parts: what their filters and indexes took when rows were last sealed or flushed.
    pub index_bytes: usize,
    /// What projects ask for beside the options.
    pub keeping: Arc<Keeping>,
    /// Nothing was removed by it yet.
    pub is_keeping_new: bool,
    /// Summed counts of all memtables that were sealed.
    pub sealed_counts: Counts,
    /// What had been counted when [`State::start_counting`] was called.
    pub counts_before: Counts,
    /// The latest time of receipt, in parts, key files and memory; nanoseconds.
    pub newest_received: Option<i64>,
    pub stopping: bool,
    spare: Arc<SpareChunks>,
}

impl State {
    pub fn new(covered: Position, parts: Vec<Part>, spare: &Arc<SpareChunks>) -> State {
        let mut by_table = vec![Vec::new(); Table::ALL.len()];
        for part in parts {
            by_table[part.facts.table as usize].push(Arc::new(part));
        }
        by_table.iter_mut().for_each(|parts| parts.sort_by_key(|part| part.facts.first_id));
        State {
            active: Memtable::new(covered, Arc::clone(spare)),
            sealed: VecDeque::new(),
            parts: by_table,
            gaps: Vec::new(),
            covered,
            index_bytes: 0,
            keeping: Arc::default(),
            is_keeping_new: false,
            sealed_counts: Counts::default(),
            counts_before: Counts::default(),
            newest_received: None,
            stopping: false,
            spare: Arc::clone(spare),
        }
    }

    /// Sets the active memtable and its keys aside for flushing, when there is anything in it.
    pub fn seal(&mut self, seen: &mut Seen) {
        if self.active.since.is_none() {
            return;
        }
        self.sealed_counts.add_summed(self.active.counted());
        let next = Memtable::new(self.active.position, Arc::clone(&self.spare));
        let sealed = std::mem::replace(&mut self.active, next).seal();
        self.sealed.push_back((Arc::new(sealed), seen.seal(self.spare.take_keys())));
        self.index_bytes = seen.index_bytes();
    }

    /// Everything counted since the lake was opened, all projects and minutes together.
    fn counts(&self) -> Counts {
        let mut counts = self.sealed_counts.clone();
        counts.add_summed(self.active.counted());
        counts
    }

    pub fn start_counting(&mut self) {
        self.counts_before = self.counts();
    }

    pub fn counted(&self) -> Vec<Counted> {
        self.counts().since(&self.counts_before)
    }

    /// Bytes of all rows in memory.
    fn memory_bytes(&self) -> usize {
        self.active.bytes() + self.sealed.iter().map(|(sealed, _)| sealed.bytes).sum::<usize>()
    }

    /// Bytes that they take, their keys and room for more included.
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
pub struct Publishing<'a>(&'a GiveUp);

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)("a panic while parts were being published");
        }
    }
}

impl Shared {
    /// Seals what is active and flushes everything that is sealed.
    pub fn flush_all(&self) -> Result<(), StoreError> {
        {
            let mut seen = self.seen.lock();
            self.state.lock().seal(&mut seen);
        }
        while self.flush_oldest()? {}
        Ok(())
    }

    /// Flushes the oldest sealed memtable; false when there is none. On an error it stays, and so do its rows.
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
        self.worked(Worked { work: Work::Flush, took: start.elapsed(), rows, has_failed: flushed.is_err() });
        drop(flushing);
        if flushed.is_ok() {
            // Nobody else has them any more, but perhaps batches of them.
            Arc::into_inner(sealed).into_iter().for_each(|sealed| sealed.leave_to(&self.spare));
            Arc::into_inner(keys).into_iter().for_each(|keys| self.spare.give_keys(keys));
        }
        flushed.map(|_| true)
    }

    /// The rows written. `written`: what an earlier try has left, and what this one leaves: a flush whose files are on the
    /// disk repeats its transaction and nothing else.
    fn flush_sealed(&self, sealed: &Sealed, keys: &KeySet, written: &mut Option<Written>) -> Result<u64, StoreError> {
        if written.as_ref().is_none_or(|written| written.covered != sealed.position) {
            *written = Some(self.write_sealed(sealed, keys)?);
        }
        let Written { parts, keys, gaps, covered } = written.as_ref().expect("it was just written");
        let seen = keys.as_ref().map(|file| &file.facts);
        self.catalog.lock().flushed(&FlushRecord { parts, seen, gaps, covered: *covered })?;
        let publishing = self.publishing();
        let Written { parts: facts, keys: file, gaps, covered } = written.take().expect("it was just registered");
        self.layout.publish(&facts);
        file.iter().for_each(|file| self.layout.publish_keys(&file.facts));
        let rows: u64 = facts.iter().map(|facts| facts.rows).sum();

        let mut seen = self.seen.lock();
        let mut state = self.state.lock();
        seen.flushed(file);
        state.index_bytes = seen.index_bytes();
        state.sealed.pop_front();
        for facts in facts {
            let part = self.part(facts);
            state.parts[part.facts.table as usize].push(part);
        }
        state.gaps.extend(gaps);
        state.covered = covered;
        drop((state, seen, publishing));
        self.wake.notify_all();
        self.tell_covered();
        Ok(rows)
    }

    /// Writes the files of a flush. On an error none of them is left.
    fn write_sealed(&self, sealed: &Sealed, keys: &KeySet) -> Result<Written, StoreError> {
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
        Ok(Written { parts, keys, gaps, covered: sealed.position })
    }

    /// Keeps the journal's records of a memtable before its position counts as covered without all of its rows.
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

    /// What is missing without the rows of a table.
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
            // The last: it is forgotten with the newest of its rows.
            day: day_of(time_max),
            rows: times.len() as u64,
            time_min,
            time_max,
            // Rows in memory hold their project once for many; a gap of too many projects is no wrong answer.
            project_min: 0,
            project_max: u32::MAX,
        }
    }

    /// Held while the catalog and what is visible differ. A panic meanwhile ends the process: rows would be shown twice or
    /// not at all until then.
    pub fn publishing(&self) -> Publishing<'_> {
        Publishing(&self.options.give_up)
    }

    pub fn worked(&self, worked: Worked) {
        if let Some(callback) = self.on_worked.get() {
            callback(&worked);
        }
    }

    /// Says how much of the room that is left until a flush is done was used.
    pub fn tell_filled(&self, state: &State) {
        let held = state.held_bytes();
        let flushing = held - state.active.held();
        let room = if state.sealed.len() > 1 {
            0
        } else {
            self.options.row_bytes_max(state.index_bytes).saturating_sub(flushing)
        };
        self.layout.pace.set_filled(held - flushing, room);
    }

    /// How many times as long as it worked a merge rests: half of the time is ingest's, and nearly all while somebody
    /// waits for an answer, until too many parts wait to be merged.
    pub fn merge_rests(&self) -> u32 {
        let has_time = || self.state.lock().parts.iter().all(|parts| !policy::is_behind(parts, self.options.merge));
        if self.layout.pace.is_asked() && has_time() { RESTS } else { 1 }
    }

    /// Flushing cannot keep up with what comes in.
    pub fn is_behind(&self, state: &State) -> bool {
        state.sealed.len() > SEALED_MAX
            // Without any it would not help to wait.
            || (!state.sealed.is_empty() && state.held_bytes() >= self.options.row_bytes_max(state.index_bytes))
    }

    pub fn part(&self, facts: PartFacts) -> Arc<Part> {
        Arc::new(self.layout.part(facts))
    }

    pub fn set_on_covered(&self, callback: OnCovered) {
        *self.on_covered.lock() = Some(callback);
        self.tell_covered();
    }

    fn tell_covered(&self) {
        let callback = self.on_covered.lock();
        let covered = self.state.lock().covered;
        if let Some(callback) = callback.as_ref() {
            callback(covered);
        }
    }

    pub fn stats(&self) -> Stats {
        let key_files = self.seen.lock().files().map(|file| file.bytes()).collect::<Vec<_>>();
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
