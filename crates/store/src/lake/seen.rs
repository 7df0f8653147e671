//! What was received lately: retried spans and requests are recognised here, across flushes and restarts.
//!
//! Keys of the active memtable lie in a hash set; each flush writes them to a sorted file that the catalog registers
//! together with the parts, so that a replay meets exactly the keys of what was stored before it. DECISIONS 11.

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use hashbrown::HashSet;

use super::seen_file::SeenFile;

/// Retries are recognised for this long after they were first received.
pub const WINDOW_NS: i64 = 24 * 3600 * 1_000_000_000;

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
        KeySet { keys: HashSet::default(), received_min: i64::MAX, received_max: i64::MIN }
    }
}

impl KeySet {
    /// Ascending.
    pub fn sorted(&self) -> Vec<u128> {
        let mut keys: Vec<u128> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        keys
    }
}

/// Everything that counts as received.
#[derive(Default)]
pub struct Seen {
    active: KeySet,
    /// Oldest first; one for each sealed memtable.
    sealed: VecDeque<Arc<KeySet>>,
    files: Vec<Arc<SeenFile>>,
}

impl Seen {
    pub fn new(files: Vec<SeenFile>) -> Seen {
        Seen { files: files.into_iter().map(Arc::new).collect(), ..Seen::default() }
    }

    /// Was the key received before?
    ///
    /// A key file that cannot be read answers no: a record stored twice is better than one lost. It is logged.
    pub fn contains(&self, key: u128) -> bool {
        let in_memory = self.active.keys.contains(&key) || self.sealed.iter().any(|set| set.keys.contains(&key));
        in_memory || self.files.iter().any(|file| in_file(file, key))
    }

    /// Marks as received at `received_ns`. False when it was already.
    pub fn insert(&mut self, key: u128, received_ns: i64) -> bool {
        if self.contains(key) {
            return false;
        }
        self.active.keys.insert(key);
        self.active.received_min = self.active.received_min.min(received_ns);
        self.active.received_max = self.active.received_max.max(received_ns);
        true
    }

    /// Keys received since the last [`Seen::seal`].
    pub fn active_keys(&self) -> usize {
        self.active.keys.len()
    }

    /// Sets the keys so far apart; they are still known.
    pub fn seal(&mut self) -> Arc<KeySet> {
        let set = Arc::new(std::mem::take(&mut self.active));
        self.sealed.push_back(Arc::clone(&set));
        set
    }

    /// The oldest sealed keys lie in `file` now (or there were none).
    pub fn flushed(&mut self, file: Option<SeenFile>) {
        self.sealed.pop_front();
        self.files.extend(file.map(Arc::new));
    }

    pub fn files(&self) -> &[Arc<SeenFile>] {
        &self.files
    }

    /// Takes files out and puts one in their place.
    pub fn replace(&mut self, ids: &[u64], with: Option<SeenFile>) {
        self.files.retain(|file| !ids.contains(&file.facts.id));
        self.files.extend(with.map(Arc::new));
    }

    /// Files whose every key has left the window.
    pub fn expired(&self, now_ns: i64) -> Vec<u64> {
        let old = |file: &&Arc<SeenFile>| file.facts.received_max < now_ns.saturating_sub(WINDOW_NS);
        self.files.iter().filter(old).map(|file| file.facts.id).collect()
    }
}

fn in_file(file: &SeenFile, key: u128) -> bool {
    file.contains(key).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot look up a received key: a retry may be stored twice");
        false
    })
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
