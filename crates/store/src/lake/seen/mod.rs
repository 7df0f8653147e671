//! What was received lately: retried spans and requests are recognised here, across flushes and restarts.
//!
//! Keys of the active memtable lie in a hash set; each flush writes them to a sorted file that the catalog registers
//! together with the parts, so that a replay meets exactly the keys of what was stored before it. DECISIONS 11.
//!
//! The indexes of the newest files are held in memory, up to a bound; older ones are asked on the disk, which costs a
//! small read per file. Merging (`upkeep`) keeps the files few.

mod bloom;
pub mod file;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use hashbrown::HashSet;

use crate::StoreError;
use crate::columns::NO_KEY;
use bloom::Probe;
use file::{Index, SeenFile};

/// Retries are recognised for this long after they were first received.
pub const WINDOW_NS: i64 = 24 * 3600 * 1_000_000_000;
/// Indexes held in memory at most: those of about 20 million keys.
const INDEX_BYTES_MAX: u64 = 40 * 1024 * 1024;

/// What a key takes in a set, room for more of them included.
const KEY_BYTES: usize = 27;

/// Keys received while one memtable was active.
#[derive(Debug)]
pub struct KeySet {
    pub keys: HashSet<u128, BuildHasherDefault<KeyHasher>>,
    /// When, nanoseconds, inclusive; the maximum is below the minimum as long as nothing came.
    pub received_min: i64,
    pub received_max: i64,
}

impl Default for KeySet {
    fn default() -> Self {
        KeySet::within(HashSet::default())
    }
}

impl KeySet {
    fn within(keys: HashSet<u128, BuildHasherDefault<KeyHasher>>) -> KeySet {
        KeySet { keys, received_min: i64::MAX, received_max: i64::MIN }
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
    active: KeySet,
    /// Oldest first; one for each sealed memtable.
    sealed: VecDeque<Arc<KeySet>>,
    /// The one that received last comes first.
    files: Vec<Held>,
    index_bytes_max: u64,
}

struct Held {
    file: Arc<SeenFile>,
    state: State,
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
        let mut seen = Seen { active: KeySet::default(), sealed: VecDeque::new(), files: Vec::new(), index_bytes_max };
        seen.add(files);
        seen
    }

    fn add(&mut self, files: impl IntoIterator<Item = SeenFile>) {
        self.files.extend(files.into_iter().map(|file| Held { file: Arc::new(file), state: State::Waiting }));
        self.share_memory();
    }

    /// The newest files get what memory there is.
    fn share_memory(&mut self) {
        self.files.sort_by_key(|held| std::cmp::Reverse((held.file.facts.received_max, held.file.facts.id)));
        let mut left = self.index_bytes_max;
        for held in &mut self.files {
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
        let in_memory = self.active.keys.contains(&key) || self.sealed.iter().any(|set| set.keys.contains(&key));
        let probe = Probe::new(key);
        in_memory || self.files.iter_mut().any(|held| held.contains(&probe))
    }

    /// Marks as received at `received_ns`. False when it was already.
    pub fn insert(&mut self, key: u128, received_ns: i64) -> bool {
        self.insert_all(&[key], received_ns) == [false]
    }

    /// Marks keys as received at `received_ns`; gives which of them were already, be it earlier in the list.
    /// [`NO_KEY`] never is.
    pub fn insert_all(&mut self, keys: &[u128], received_ns: i64) -> Vec<bool> {
        let mut known = vec![false; keys.len()];
        // File by file: the look-ups of many keys in one filter wait for memory together.
        let probes: Vec<Probe> = keys.iter().map(|key| Probe::new(*key)).collect();
        self.files.iter_mut().for_each(|held| held.mark(&probes, &mut known));
        for (key, known) in keys.iter().zip(&mut known).filter(|(key, _)| **key != NO_KEY) {
            *known = *known || self.sealed.iter().any(|set| set.keys.contains(key));
            // Most keys are new: the set of the active memtable is asked and told in one go.
            if !*known && self.active.keys.insert(*key) {
                self.active.received_min = self.active.received_min.min(received_ns);
                self.active.received_max = self.active.received_max.max(received_ns);
            } else {
                *known = true;
            }
        }
        known
    }

    /// Keys received since the last [`Seen::seal`].
    pub fn active_keys(&self) -> usize {
        self.active.keys.len()
    }

    /// About what they take in memory.
    pub fn active_bytes(&self) -> usize {
        self.active.keys.len() * KEY_BYTES
    }

    /// Sets the keys so far apart; they are still known. `next`, which is empty, takes those to come.
    pub fn seal(&mut self, next: Option<KeySet>) -> Arc<KeySet> {
        let mut next = next.unwrap_or_default();
        // The next memtable will be about as large; a set that grows is written again and again.
        next.keys.reserve(self.active.keys.len());
        let set = Arc::new(std::mem::replace(&mut self.active, next));
        self.sealed.push_back(Arc::clone(&set));
        set
    }

    /// The oldest sealed keys lie in `file` now (or there were none).
    pub fn flushed(&mut self, file: Option<SeenFile>) {
        self.sealed.pop_front();
        self.add(file);
    }

    pub fn files(&self) -> impl Iterator<Item = &Arc<SeenFile>> {
        self.files.iter().map(|held| &held.file)
    }

    /// Takes files out and puts one in their place.
    pub fn replace(&mut self, ids: &[u64], with: Option<SeenFile>) {
        self.files.retain(|held| !ids.contains(&held.file.facts.id));
        self.add(with);
    }

    /// Files whose every key has left the window.
    pub fn expired(&self, now_ns: i64) -> Vec<u64> {
        let old = |file: &&Arc<SeenFile>| file.facts.received_max < now_ns.saturating_sub(WINDOW_NS);
        self.files().filter(old).map(|file| file.facts.id).collect()
    }
}

impl Held {
    /// Sets the flags of the keys that are in the file.
    fn mark(&mut self, probes: &[Probe], known: &mut [bool]) {
        for (probe, known) in probes.iter().zip(known) {
            // The filter first, of every key: nothing else keeps the processor from asking it for the next ones.
            if self.may_contain(probe) && !*known && probe.key != NO_KEY {
                *known = self.contains(probe);
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
