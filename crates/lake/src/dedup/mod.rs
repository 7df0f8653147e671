//! What was received lately: retried spans and requests are recognised here, across flushes and restarts.
//!
//! Keys of the active memtable lie in a hash set; each flush writes them to a sorted file that the catalog registers
//! together with the parts, so that a replay meets exactly the keys of what was stored before it. DECISIONS 11.
//!
//! A filter of what came lately (`recent`) says of nearly all keys that they are new. The indexes of the newest files are
//! held in memory, up to a bound; older ones are asked on the disk, which costs a small read per file. Merging (`upkeep`)
//! keeps the files few.

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
use file::{Generation, Index, SeenFacts, SeenFile};
use recent::Recent;
use tidewatch_store::StoreError;
pub(crate) use tidewatch_store::columns::{NO_KEY, keys_without_side};

/// Retries are recognised for this long after they were first received.
pub const WINDOW_NS: i64 = 24 * 3600 * 1_000_000_000;
/// A request in which any record has no time of its own is recognised for this long only: equal bodies may be different
/// events. DECISIONS 11.
pub const UNTIMED_WINDOW_NS: i64 = 5 * 60 * 1_000_000_000;
/// The key of such a request holds the time of its receipt, in steps of this length.
const UNTIMED_STEP_NS: i64 = 10 * 1_000_000_000;
/// Indexes held in memory at most, with the filter of what came lately: those of about 20 million keys.
const INDEX_BYTES_MAX: u64 = 40 * 1024 * 1024;
/// The filter of what came lately: about 8 million keys.
const RECENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a key takes in a set, room for more of them included.
const KEY_BYTES: usize = 27;

/// Keys received while one memtable was active.
#[derive(Debug)]
pub struct KeySet {
    pub keys: HashSet<u128, BuildHasherDefault<KeyHasher>>,
    /// When, nanoseconds, inclusive; the maximum is below the minimum as long as nothing came.
    pub received_min: i64,
    pub received_max: i64,
    /// Every key received in the window could be looked up meanwhile. Otherwise records may be stored twice, and a merge
    /// must look for them.
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

    /// Bytes that the set takes, room for more keys included.
    pub fn bytes(&self) -> usize {
        self.keys.allocation_size()
    }

    /// No keys, the memory kept.
    pub fn clear(&mut self) {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        *self = KeySet::within(keys);
    }

    /// Ascending.
    pub fn sorted(&self) -> Vec<u128> {
        let mut keys: Vec<u128> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        keys
    }
}

/// Everything that counts as received.
pub struct Seen {
    active: Since<KeySet>,
    /// Oldest first; one for each sealed memtable.
    sealed: VecDeque<Since<Arc<KeySet>>>,
    /// The one that received last comes first.
    files: Vec<Held>,
    /// Every key that was received since the start, as far as it reaches.
    recent: Recent,
    index_bytes_max: u64,
    /// Listed files that could not be opened.
    unreadable: Vec<SeenFacts>,
    /// A file that could not be read was replaced since the last seal.
    was_incomplete: bool,
}

/// Keys, and the number of the filter in [`Recent`] at their first.
struct Since<K> {
    keys: K,
    filter: u64,
}

struct Held {
    file: Arc<SeenFile>,
    state: State,
    /// As [`Since::filter`]; `None` for what came before the start.
    since: Option<u64>,
}

enum State {
    /// The index may be held in memory; the next look-up reads it.
    Waiting,
    InMemory(Index),
    OnDisk,
    /// It cannot be read, which has been said.
    Broken,
}

impl Seen {
    pub fn new(files: Vec<SeenFile>) -> Seen {
        Seen::within(INDEX_BYTES_MAX, files)
    }

    fn within(index_bytes_max: u64, files: Vec<SeenFile>) -> Seen {
        let recent = Recent::within(RECENT_BYTES_MAX.min(index_bytes_max as usize));
        let active = Since { keys: KeySet::default(), filter: recent.current() };
        let mut seen = Seen {
            active,
            sealed: VecDeque::new(),
            files: Vec::new(),
            recent,
            index_bytes_max,
            unreadable: Vec::new(),
            was_incomplete: false,
        };
        seen.add(files, None);
        seen
    }

    /// A listed file could not be opened: its keys are not known. It expires as the others do.
    pub fn add_unreadable(&mut self, facts: SeenFacts) {
        self.unreadable.push(facts);
    }

    /// Keys of the window are missing: some file cannot be read.
    fn is_incomplete(&self) -> bool {
        !self.unreadable.is_empty() || self.files.iter().any(|held| matches!(held.state, State::Broken))
    }

    fn add(&mut self, files: impl IntoIterator<Item = SeenFile>, since: Option<u64>) {
        let held = |file| Held { file: Arc::new(file), state: State::Waiting, since };
        self.files.extend(files.into_iter().map(held));
        self.share_memory();
    }

    /// Files that are asked for every key get what memory there is, the newest first, then those that the filter of what
    /// came lately spares most look-ups.
    fn share_memory(&mut self) {
        self.files.sort_by_key(|held| std::cmp::Reverse((held.file.facts.received_max, held.file.facts.id)));
        let Seen { files, recent, index_bytes_max, .. } = self;
        let mut left = index_bytes_max.saturating_sub(recent.bytes() as u64);
        let (spared, asked): (Vec<_>, Vec<_>) = files.iter_mut().partition(|held| held.is_spared_by(recent));
        for held in asked.into_iter().chain(spared) {
            let fits = left.checked_sub(held.file.index_bytes());
            left = fits.unwrap_or(0);
            match (&held.state, fits) {
                (State::InMemory(_) | State::Waiting, None) => held.state = State::OnDisk,
                (State::OnDisk, Some(_)) => held.state = State::Waiting,
                _ => {}
            }
        }
    }

    /// Was the key received before?
    ///
    /// Keys that cannot be read answer no: a record stored twice is better than one lost. It is logged.
    pub fn contains(&mut self, key: u128) -> bool {
        let in_memory = self.active.keys.keys.contains(&key) || self.is_sealed(key);
        let probe = Probe::new(key);
        in_memory || self.files.iter_mut().any(|held| held.contains(&probe))
    }

    /// Marks as received at `received_ns`. False when it was already.
    pub fn insert(&mut self, key: u128, received_ns: i64) -> bool {
        self.insert_all(&[key], received_ns) == [false]
    }

    /// As [`Seen::insert`], for a request in which any record has no time of its own: it was received before only when that
    /// was at most [`UNTIMED_WINDOW_NS`] ago, rounded up to the next step.
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

    /// Whether any of the keys was received at `since` or later, as far as files tell; `only`: in files of this
    /// generation.
    fn contains_any(&mut self, keys: &[u128], since: i64, only: Option<Generation>) -> bool {
        let probes: Vec<Probe> = keys.iter().map(|key| Probe::new(*key)).collect();
        let in_memory = |probe: &Probe| self.active.keys.keys.contains(&probe.key) || self.is_sealed(probe.key);
        if only.is_none() && probes.iter().any(in_memory) {
            return true;
        }
        let mut may_be_recent = vec![false; keys.len()];
        self.recent.mark(&probes, &mut may_be_recent);
        let Seen { files, recent, .. } = &mut *self;
        let is_meant = |held: &&mut Held| {
            held.file.facts.received_max >= since && only.is_none_or(|only| held.file.generation() == only)
        };
        files.iter_mut().filter(is_meant).any(|held| {
            let is_spared = held.is_spared_by(recent);
            let mut asked = probes.iter().zip(&may_be_recent).filter(|(_, may_be)| **may_be || !is_spared);
            asked.any(|(probe, _)| held.contains(probe))
        })
    }

    /// Marks keys as received at `received_ns`; gives which of them were already, be it earlier in the list.
    /// [`NO_KEY`] never is.
    pub fn insert_all(&mut self, keys: &[u128], received_ns: i64) -> Vec<bool> {
        let mut known = vec![false; keys.len()];
        let probes: Vec<Probe> = keys.iter().map(|key| Probe::new(*key)).collect();
        let mut may_be_recent = vec![false; keys.len()];
        self.recent.mark(&probes, &mut may_be_recent);
        let perhaps: Vec<usize> = (0..keys.len()).filter(|index| may_be_recent[*index]).collect();
        let Seen { files, recent, .. } = &mut *self;
        for held in files.iter_mut() {
            match held.is_spared_by(recent) {
                true => held.mark(&probes, perhaps.iter().copied(), &mut known),
                false => held.mark(&probes, 0..keys.len(), &mut known),
            }
        }
        for held in files.iter_mut().filter(|held| held.file.generation() == Generation::WithoutSides) {
            for (key, known) in keys.iter().zip(known.iter_mut()).filter(|(key, known)| **key != NO_KEY && !**known) {
                *known = keys_without_side(*key).into_iter().any(|key| held.contains(&Probe::new(key)));
            }
        }
        let oldest = self.recent.oldest();
        let all_recent = self.sealed.iter().all(|set| self.recent.reaches(set.filter));
        for (index, probe) in probes.iter().enumerate().filter(|(_, probe)| probe.key != NO_KEY) {
            known[index] = known[index] || ((may_be_recent[index] || !all_recent) && self.is_sealed(probe.key));
            // Most keys are new: the set of the active memtable is asked and told in one go.
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
            self.share_memory();
        }
        known
    }

    fn is_sealed(&self, key: u128) -> bool {
        self.sealed.iter().any(|set| set.keys.keys.contains(&key))
    }

    /// Keys received since the last [`Seen::seal`].
    pub fn active_keys(&self) -> usize {
        self.active.keys.keys.len()
    }

    /// About what they take in memory.
    pub fn active_bytes(&self) -> usize {
        self.active_keys() * KEY_BYTES
    }

    /// What filters and indexes take that are in memory, but for the filter that grows.
    pub fn index_bytes(&self) -> usize {
        let indexes = self.files.iter().filter(|held| matches!(held.state, State::InMemory(_)));
        self.recent.full_bytes() + indexes.map(|held| held.file.index_bytes() as usize).sum::<usize>()
    }

    /// Sets the keys so far apart; they are still known. `next`, which is empty, takes those to come.
    pub fn seal(&mut self, next: Option<KeySet>) -> Arc<KeySet> {
        let mut next = next.unwrap_or_default();
        // The next memtable will be about as large; a set that grows is written again and again.
        next.keys.reserve(self.active_keys());
        let next = Since { keys: next, filter: self.recent.current() };
        let Since { mut keys, filter } = std::mem::replace(&mut self.active, next);
        keys.is_complete = !std::mem::take(&mut self.was_incomplete) && !self.is_incomplete();
        let keys = Arc::new(keys);
        self.sealed.push_back(Since { keys: Arc::clone(&keys), filter });
        keys
    }

    /// The oldest sealed keys lie in `file` now (or there were none).
    pub fn flushed(&mut self, file: Option<SeenFile>) {
        let since = self.sealed.pop_front().map(|set| set.filter);
        self.add(file, since);
    }

    pub fn files(&self) -> impl Iterator<Item = &Arc<SeenFile>> {
        self.files.iter().map(|held| &held.file)
    }

    /// Takes files out and puts one in their place.
    pub fn replace(&mut self, ids: &[u64], with: Option<SeenFile>) {
        let is_replaced = |held: &Held| ids.contains(&held.file.facts.id);
        self.was_incomplete |= self.is_incomplete();
        self.unreadable.retain(|facts| !ids.contains(&facts.id));
        let replaced = self.files.iter().filter(|held| is_replaced(held));
        let since = replaced.map(|held| held.since).min().flatten();
        self.files.retain(|held| !is_replaced(held));
        self.add(with, since);
    }

    /// Files whose every key has left the window.
    pub fn expired(&self, now_ns: i64) -> Vec<u64> {
        let old = |facts: &&SeenFacts| facts.received_max < now_ns.saturating_sub(WINDOW_NS);
        self.files().map(|file| &file.facts).chain(&self.unreadable).filter(old).map(|facts| facts.id).collect()
    }
}

impl Held {
    /// Only keys that the filter lets pass can be in the file.
    fn is_spared_by(&self, recent: &Recent) -> bool {
        self.since.is_some_and(|since| recent.reaches(since))
    }

    /// Sets the flags of the keys that are in the file, of those at these places.
    fn mark(&mut self, probes: &[Probe], places: impl Iterator<Item = usize>, known: &mut [bool]) {
        for index in places {
            let probe = &probes[index];
            // The filter first, of every key: nothing else keeps the processor from asking it for the next ones.
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

/// The key of a request without times that was received in this step.
fn untimed_key(key: u128, step: i64) -> u128 {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(&key.to_le_bytes());
    bytes[16..].copy_from_slice(&step.to_le_bytes());
    xxh3_128(&bytes).max(1)
}

/// Keys are hashes already: their low half will do.
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
