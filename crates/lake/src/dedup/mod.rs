//! The keys of recently received records and requests: retries are detected here, across flushes and restarts.
//!
//! The keys of the active memtable are in a hash set. Each flush writes them to a sorted file that the catalog
//! registers together with the parts, so that a replay finds exactly the keys of the rows stored before it. DECISIONS
//! 11.
//!
//! A filter of recent keys (`recent`) rejects nearly all new keys. The indexes of the newest files are in memory, up to
//! a limit; a look-up in an older file costs a small read. Merging (`maintenance`) keeps the files few.

mod bloom;
pub mod file;
mod recent;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_128;

use bloom::Probe;
use file::{DedupFile, DedupFileFacts, Generation, Index};
use recent::RecentFilter;
use tidewatch_domain::units::{DAY_NS, MINUTE_NS, SECOND_NS};
use tidewatch_store::StoreError;
pub(crate) use tidewatch_store::columns::{NO_KEY, keys_without_side};

/// Retries are detected for this long after the first receipt, nanoseconds.
pub const WINDOW_NS: i64 = DAY_NS;
/// Retries of a request in which any record has no time of its own are detected for this long only, nanoseconds: equal
/// bodies may be different events. DECISIONS 11.
pub const UNTIMED_WINDOW_NS: i64 = 5 * MINUTE_NS;
/// The key of such a request includes the time of its receipt in steps of this length, nanoseconds.
const UNTIMED_STEP_NS: i64 = 10 * SECOND_NS;
/// Maximum size of indexes in memory together with the filter of recent keys: about 20 million keys.
const INDEX_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// Maximum size of the filter of recent keys: about 8 million keys.
const RECENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Approximate memory of a key in a set, spare capacity included.
const KEY_BYTES: usize = 27;

/// Keys received while one memtable was active.
#[derive(Debug)]
pub struct KeySet {
    pub keys: HashSet<u128, BuildHasherDefault<KeyHasher>>,
    /// Times of receipt, nanoseconds, inclusive; the maximum is below the minimum while the set is empty.
    pub received_min: i64,
    pub received_max: i64,
    /// Whether every key of the window could be looked up during the set's time. Otherwise records may be stored twice,
    /// and a merge must look for duplicates.
    pub is_complete: bool,
}

impl Default for KeySet {
    fn default() -> Self {
        KeySet::within(HashSet::default())
    }
}

impl KeySet {
    fn within(keys: HashSet<u128, BuildHasherDefault<KeyHasher>>) -> KeySet {
        KeySet { keys, received_min: i64::MAX, received_max: i64::MIN, is_complete: true }
    }

    /// Memory of the set in bytes, spare capacity included.
    pub fn bytes(&self) -> usize {
        self.keys.allocation_size()
    }

    /// Removes all keys without freeing their memory.
    pub fn clear(&mut self) {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        *self = KeySet::within(keys);
    }

    /// The keys, ascending.
    pub fn sorted(&self) -> Vec<u128> {
        let mut keys: Vec<u128> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        keys
    }
}

/// All keys within the window.
pub struct DedupSet {
    active: Since<KeySet>,
    /// One set for each sealed memtable, oldest first.
    sealed: VecDeque<Since<Arc<KeySet>>>,
    /// Sorted by the latest time of receipt, descending.
    files: Vec<IndexedFile>,
    /// A filter of the keys received since the start, as far as it reaches.
    recent: RecentFilter,
    index_bytes_max: u64,
    /// Listed files that could not be opened.
    unreadable: Vec<DedupFileFacts>,
    /// An unreadable file was replaced since the last seal.
    was_incomplete: bool,
}

/// A set of keys, and the number of the filter in [`RecentFilter`] that has its first key.
struct Since<K> {
    keys: K,
    filter: u64,
}

struct IndexedFile {
    file: Arc<DedupFile>,
    state: State,
    /// Like [`Since::filter`]; `None` for files from before the start.
    since: Option<u64>,
}

enum State {
    /// The index may be in memory; the next look-up reads it.
    Waiting,
    InMemory(Index),
    OnDisk,
    /// The file cannot be read, which was logged.
    Broken,
}

impl DedupSet {
    pub fn new(files: Vec<DedupFile>) -> DedupSet {
        DedupSet::within(INDEX_BYTES_MAX, files)
    }

    fn within(index_bytes_max: u64, files: Vec<DedupFile>) -> DedupSet {
        let recent = RecentFilter::within(RECENT_BYTES_MAX.min(index_bytes_max as usize));
        let active = Since { keys: KeySet::default(), filter: recent.current() };
        let mut dedup = DedupSet {
            active,
            sealed: VecDeque::new(),
            files: Vec::new(),
            recent,
            index_bytes_max,
            unreadable: Vec::new(),
            was_incomplete: false,
        };
        dedup.add(files, None);
        dedup
    }

    /// Adds a listed file that could not be opened: its keys are unknown. It expires like the others.
    pub fn add_unreadable(&mut self, facts: DedupFileFacts) {
        self.unreadable.push(facts);
    }

    /// Whether keys of the window are missing because a file cannot be read.
    fn is_incomplete(&self) -> bool {
        !self.unreadable.is_empty() || self.files.iter().any(|indexed| matches!(indexed.state, State::Broken))
    }

    fn add(&mut self, files: impl IntoIterator<Item = DedupFile>, since: Option<u64>) {
        let indexed = |file| IndexedFile { file: Arc::new(file), state: State::Waiting, since };
        self.files.extend(files.into_iter().map(indexed));
        self.distribute_memory();
    }

    /// Assigns the memory for indexes: first to the files that are read for every key, the newest first, then to those
    /// for which the filter of recent keys avoids most look-ups.
    fn distribute_memory(&mut self) {
        self.files.sort_by_key(|indexed| std::cmp::Reverse((indexed.file.facts.received_max, indexed.file.facts.id)));
        let DedupSet { files, recent, index_bytes_max, .. } = self;
        let mut left = index_bytes_max.saturating_sub(recent.bytes() as u64);
        let (covered, checked): (Vec<_>, Vec<_>) = files.iter_mut().partition(|indexed| indexed.is_covered_by(recent));
        for indexed in checked.into_iter().chain(covered) {
            let fits = left.checked_sub(indexed.file.index_bytes());
            left = fits.unwrap_or(0);
            match (&indexed.state, fits) {
                (State::InMemory(_) | State::Waiting, None) => indexed.state = State::OnDisk,
                (State::OnDisk, Some(_)) => indexed.state = State::Waiting,
                _ => {}
            }
        }
    }

    /// Whether the key was received before.
    ///
    /// Unreadable keys count as not received, because a record stored twice is better than a lost record. The error is
    /// logged.
    pub fn contains(&mut self, key: u128) -> bool {
        let in_memory = self.active.keys.keys.contains(&key) || self.is_sealed(key);
        let probe = Probe::new(key);
        in_memory || self.files.iter_mut().any(|indexed| indexed.contains(&probe))
    }

    /// Adds a key received at `received_ns`. False when it was received before.
    pub fn insert(&mut self, key: u128, received_ns: i64) -> bool {
        self.insert_all(&[key], received_ns) == [false]
    }

    /// Like [`DedupSet::insert`], for a request in which any record has no time of its own: it counts as received
    /// before only when that was at most [`UNTIMED_WINDOW_NS`] ago, rounded up to the next step.
    pub fn insert_untimed(&mut self, key: u128, received_ns: i64) -> bool {
        let step = received_ns.div_euclid(UNTIMED_STEP_NS);
        let since = received_ns.saturating_sub(UNTIMED_WINDOW_NS + UNTIMED_STEP_NS);
        let steps = step - UNTIMED_WINDOW_NS / UNTIMED_STEP_NS..=step;
        let keys: Vec<u128> = steps.map(|step| untimed_key(key, step)).collect();
        if self.contains_any(&keys, since, None) {
            return false;
        }
        // Earlier releases wrote one key for the whole window.
        if self.contains_any(&[key], received_ns.saturating_sub(UNTIMED_WINDOW_NS), Some(Generation::WithoutSides)) {
            return false;
        }
        self.insert(untimed_key(key, step), received_ns)
    }

    /// Whether any of the keys was received at `since` or later, at the resolution of files. `only` limits the look-up
    /// to files of this generation.
    fn contains_any(&mut self, keys: &[u128], since: i64, only: Option<Generation>) -> bool {
        let probes: Vec<Probe> = keys.iter().map(|key| Probe::new(*key)).collect();
        let in_memory = |probe: &Probe| self.active.keys.keys.contains(&probe.key) || self.is_sealed(probe.key);
        if only.is_none() && probes.iter().any(in_memory) {
            return true;
        }
        let mut may_be_recent = vec![false; keys.len()];
        self.recent.mark(&probes, &mut may_be_recent);
        let DedupSet { files, recent, .. } = &mut *self;
        let is_selected = |indexed: &&mut IndexedFile| {
            indexed.file.facts.received_max >= since && only.is_none_or(|only| indexed.file.generation() == only)
        };
        files.iter_mut().filter(is_selected).any(|indexed| {
            let is_covered = indexed.is_covered_by(recent);
            let mut checked = probes.iter().zip(&may_be_recent).filter(|(_, may_be)| **may_be || !is_covered);
            checked.any(|(probe, _)| indexed.contains(probe))
        })
    }

    /// Adds keys received at `received_ns`. Returns for each whether it was received before, or occurs earlier in the
    /// list. [`NO_KEY`] never counts as received.
    pub fn insert_all(&mut self, keys: &[u128], received_ns: i64) -> Vec<bool> {
        let mut known = vec![false; keys.len()];
        let probes: Vec<Probe> = keys.iter().map(|key| Probe::new(*key)).collect();
        let mut may_be_recent = vec![false; keys.len()];
        self.recent.mark(&probes, &mut may_be_recent);
        let candidates: Vec<usize> = (0..keys.len()).filter(|index| may_be_recent[*index]).collect();
        let DedupSet { files, recent, .. } = &mut *self;
        for indexed in files.iter_mut() {
            match indexed.is_covered_by(recent) {
                true => indexed.mark(&probes, candidates.iter().copied(), &mut known),
                false => indexed.mark(&probes, 0..keys.len(), &mut known),
            }
        }
        for indexed in files.iter_mut().filter(|indexed| indexed.file.generation() == Generation::WithoutSides) {
            for (key, known) in keys.iter().zip(known.iter_mut()).filter(|(key, known)| **key != NO_KEY && !**known) {
                *known = keys_without_side(*key).into_iter().any(|key| indexed.contains(&Probe::new(key)));
            }
        }
        let oldest = self.recent.oldest();
        let all_recent = self.sealed.iter().all(|set| self.recent.reaches(set.filter));
        for (index, probe) in probes.iter().enumerate().filter(|(_, probe)| probe.key != NO_KEY) {
            known[index] = known[index] || ((may_be_recent[index] || !all_recent) && self.is_sealed(probe.key));
            // Most keys are new: one operation looks up and inserts in the active set.
            let Since { keys: active, .. } = &mut self.active;
            if !known[index] && active.keys.insert(probe.key) {
                active.received_min = active.received_min.min(received_ns);
                active.received_max = active.received_max.max(received_ns);
                self.recent.insert(probe);
            } else {
                known[index] = true;
            }
        }
        if self.recent.oldest() != oldest {
            self.distribute_memory();
        }
        known
    }

    fn is_sealed(&self, key: u128) -> bool {
        self.sealed.iter().any(|set| set.keys.keys.contains(&key))
    }

    /// Number of keys received since the last [`DedupSet::seal`].
    pub fn active_keys(&self) -> usize {
        self.active.keys.keys.len()
    }

    /// Approximate memory of these keys, in bytes.
    pub fn active_bytes(&self) -> usize {
        self.active_keys() * KEY_BYTES
    }

    /// Size of the filters and indexes in memory, except the filter that receives new keys, in bytes.
    pub fn index_bytes(&self) -> usize {
        let indexes = self.files.iter().filter(|indexed| matches!(indexed.state, State::InMemory(_)));
        self.recent.full_bytes() + indexes.map(|indexed| indexed.file.index_bytes() as usize).sum::<usize>()
    }

    /// Seals the keys received so far, which still count as received. `next`, an empty set, receives subsequent keys.
    pub fn seal(&mut self, next: Option<KeySet>) -> Arc<KeySet> {
        let mut next = next.unwrap_or_default();
        // The next memtable will have about the same size; a growing set would be rehashed repeatedly.
        next.keys.reserve(self.active_keys());
        let next = Since { keys: next, filter: self.recent.current() };
        let Since { mut keys, filter } = std::mem::replace(&mut self.active, next);
        keys.is_complete = !std::mem::take(&mut self.was_incomplete) && !self.is_incomplete();
        let keys = Arc::new(keys);
        self.sealed.push_back(Since { keys: Arc::clone(&keys), filter });
        keys
    }

    /// Replaces the oldest sealed set by `file`, which has its keys; `None` when it was empty.
    pub fn finish_flush(&mut self, file: Option<DedupFile>) {
        let since = self.sealed.pop_front().map(|set| set.filter);
        self.add(file, since);
    }

    pub fn files(&self) -> impl Iterator<Item = &Arc<DedupFile>> {
        self.files.iter().map(|indexed| &indexed.file)
    }

    /// Replaces files by one file, or by none.
    pub fn replace(&mut self, ids: &[u64], with: Option<DedupFile>) {
        let is_replaced = |indexed: &IndexedFile| ids.contains(&indexed.file.facts.id);
        self.was_incomplete |= self.is_incomplete();
        self.unreadable.retain(|facts| !ids.contains(&facts.id));
        let replaced = self.files.iter().filter(|indexed| is_replaced(indexed));
        let since = replaced.map(|indexed| indexed.since).min().flatten();
        self.files.retain(|indexed| !is_replaced(indexed));
        self.add(with, since);
    }

    /// Ids of the files whose keys are all older than the window.
    pub fn expired(&self, now_ns: i64) -> Vec<u64> {
        let old = |facts: &&DedupFileFacts| facts.received_max < now_ns.saturating_sub(WINDOW_NS);
        self.files().map(|file| &file.facts).chain(&self.unreadable).filter(old).map(|facts| facts.id).collect()
    }
}

impl IndexedFile {
    /// Whether every key of the file passes the filter of recent keys.
    fn is_covered_by(&self, recent: &RecentFilter) -> bool {
        self.since.is_some_and(|since| recent.reaches(since))
    }

    /// Sets the flags of the keys that are in the file, among those at these indices.
    fn mark(&mut self, probes: &[Probe], places: impl Iterator<Item = usize>, known: &mut [bool]) {
        for index in places {
            let probe = &probes[index];
            // The filter check comes first and for every key, so that the processor can fetch the blocks of the next
            // keys meanwhile.
            if self.may_contain(probe) && !known[index] && probe.key != NO_KEY {
                known[index] = self.contains(probe);
            }
        }
    }

    fn may_contain(&self, probe: &Probe) -> bool {
        match &self.state {
            State::InMemory(index) => index.may_contain(probe),
            State::Broken => false,
            State::Waiting | State::OnDisk => true,
        }
    }

    fn contains(&mut self, probe: &Probe) -> bool {
        self.look_up(probe).unwrap_or_else(|error| {
            tracing::error!(%error, "cannot look up received keys: retries of that time may be stored twice");
            self.state = State::Broken;
            false
        })
    }

    fn look_up(&mut self, probe: &Probe) -> Result<bool, StoreError> {
        if matches!(self.state, State::Waiting) {
            self.state = State::InMemory(self.file.index()?);
        }
        match &self.state {
            State::InMemory(index) => self.file.contains(index, probe),
            State::Broken => Ok(false),
            State::OnDisk | State::Waiting => self.file.contains_unindexed(probe),
        }
    }
}

/// The key of a request without times for its time step of receipt.
fn untimed_key(key: u128, step: i64) -> u128 {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(&key.to_le_bytes());
    bytes[16..].copy_from_slice(&step.to_le_bytes());
    xxh3_128(&bytes).max(1)
}

/// Keys are hashes already, so their low half is used.
#[derive(Debug, Default, Clone, Copy)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}
