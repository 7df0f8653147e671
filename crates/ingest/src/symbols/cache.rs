//! A cache of artifacts in memory, bounded in bytes. It also remembers for a while which artifacts are missing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use uuid::Uuid;

use super::keys::SymbolKey;
use tidewatch_limits as limits;

type Key = (Uuid, SymbolKey);

/// Evicts the least recently used artifact first.
pub struct Cache {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    bytes: usize,
    /// Logical time: the number of look-ups.
    clock: u64,
    /// Number of invalidations. A result of a look-up before the last one may be out of date.
    changes: u64,
    hits: u64,
    misses: u64,
}

enum Entry {
    Loaded { artifact: Arc<[u8]>, used: u64 },
    Missing { since: Instant },
}

/// The result of a look-up in the cache.
pub enum Cached {
    /// The artifact.
    Artifact(Arc<[u8]>),
    /// It did not exist a short time ago.
    Missing,
    /// Not cached. [`Changes`] is passed to [`Cache::put`] or [`Cache::put_missing`] with what is found on disk.
    Unknown(Changes),
}

/// The number of invalidations at a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes(u64);

/// Counters of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheStats {
    /// Look-ups that found an artifact.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Bytes of cached artifacts.
    pub bytes: usize,
}

impl Cache {
    /// An empty cache of at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Cache {
        Cache { bytes_max, state: Mutex::default() }
    }

    /// Looks up an artifact.
    pub fn find(&self, project: Uuid, key: &SymbolKey) -> Cached {
        let mut state = self.state.lock();
        state.clock += 1;
        let (now, changes) = (state.clock, Changes(state.changes));
        let found = match state.entries.get_mut(&(project, key.clone())) {
            Some(Entry::Loaded { artifact, used }) => {
                *used = now;
                Cached::Artifact(artifact.clone())
            }
            Some(Entry::Missing { since }) if since.elapsed() < limits::ARTIFACT_MISSING_FOR => Cached::Missing,
            Some(Entry::Missing { .. }) | None => Cached::Unknown(changes),
        };
        match found {
            Cached::Artifact(_) => state.hits += 1,
            Cached::Missing | Cached::Unknown(_) => state.misses += 1,
        }
        found
    }

    /// Caches an artifact that was read from disk, unless something was invalidated after `since`. An artifact larger
    /// than the whole cache is kept alone: reading it for each trace would cost more.
    pub fn put(&self, project: Uuid, key: SymbolKey, artifact: Arc<[u8]>, since: Changes) {
        let mut state = self.state.lock();
        if since != Changes(state.changes) {
            return;
        }
        state.remove(&(project, key.clone()));
        while state.bytes + artifact.len() > self.bytes_max && state.remove_oldest() {}
        state.bytes += artifact.len();
        let used = state.clock;
        state.entries.insert((project, key), Entry::Loaded { artifact, used });
    }

    /// Remembers that an artifact is missing, for [`limits::ARTIFACT_MISSING_FOR`], unless something was invalidated
    /// after `since`.
    pub fn put_missing(&self, project: Uuid, key: SymbolKey, since: Changes) {
        let mut state = self.state.lock();
        if since != Changes(state.changes) {
            return;
        }
        if state.entries.len() >= limits::ARTIFACTS_KNOWN_MAX {
            state.entries.retain(|_, entry| matches!(entry, Entry::Loaded { .. }));
        }
        state.remove(&(project, key.clone()));
        state.entries.insert((project, key), Entry::Missing { since: Instant::now() });
    }

    /// Invalidates the entry of a key that has changed.
    pub fn forget(&self, project: Uuid, key: &SymbolKey) {
        let mut state = self.state.lock();
        state.changes += 1;
        state.remove(&(project, key.clone()));
    }

    /// Invalidates all entries of a project.
    pub fn forget_all(&self, project: Uuid) {
        let mut state = self.state.lock();
        state.changes += 1;
        let keys: Vec<Key> = state.entries.keys().filter(|(known, _)| *known == project).cloned().collect();
        keys.iter().for_each(|key| state.remove(key));
    }

    /// Counters since the start, and the current size.
    pub fn stats(&self) -> CacheStats {
        let state = self.state.lock();
        CacheStats { hits: state.hits, misses: state.misses, bytes: state.bytes }
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(Entry::Loaded { artifact, .. }) = self.entries.remove(key) {
            self.bytes -= artifact.len();
        }
    }

    /// Evicts the least recently used artifact. Returns whether there was one.
    fn remove_oldest(&mut self) -> bool {
        let loaded = self.entries.iter().filter_map(|(key, entry)| match entry {
            Entry::Loaded { used, .. } => Some((*used, key)),
            Entry::Missing { .. } => None,
        });
        let Some(oldest) = loaded.min_by_key(|(used, _)| *used).map(|(_, key)| key.clone()) else { return false };
        self.remove(&oldest);
        true
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_symbols::DebugId;

    use super::*;

    #[test]
    fn the_least_recently_used_is_evicted_first() {
        let cache = Cache::new(10);
        let project = Uuid::nil();
        let key = |digits| SymbolKey::MachO(DebugId::parse(digits).expect("an id"));
        let is_there = |digits| matches!(cache.find(project, &key(digits)), Cached::Artifact(_));
        let put = |digits, bytes: usize| {
            let Cached::Unknown(since) = cache.find(project, &key(digits)) else { panic!("it is not there") };
            cache.put(project, key(digits), Arc::from(vec![0; bytes]), since);
        };
        put("1", 4);
        put("2", 4);
        assert!(is_there("1"));
        put("3", 4);
        assert_eq!((is_there("1"), is_there("2"), is_there("3")), (true, false, true));
        assert!(!matches!(cache.find(Uuid::max(), &key("3")), Cached::Artifact(_)), "another project's");
        put("4", 11);
        assert_eq!((is_there("1"), is_there("4"), cache.stats().bytes), (false, true, 11), "alone");
    }

    #[test]
    fn results_from_before_an_invalidation_are_not_cached() {
        let cache = Cache::new(10);
        let (project, key) = (Uuid::nil(), SymbolKey::MachO(DebugId::parse("1").expect("an id")));
        let look = || match cache.find(project, &key) {
            Cached::Unknown(since) => since,
            _ => panic!("it is not known"),
        };
        let before = look();
        cache.forget(project, &key);
        cache.put_missing(project, key.clone(), before);
        let now = look();
        cache.put_missing(project, key.clone(), now);
        assert!(matches!(cache.find(project, &key), Cached::Missing));
        cache.forget_all(project);
        look();
    }
}
