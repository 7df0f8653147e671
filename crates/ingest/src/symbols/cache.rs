//! Artifacts in memory, at most so many bytes of them, and what is known to be missing for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use uuid::Uuid;

use super::keys::SymbolKey;
use tidewatch_limits as limits;

type Key = (Uuid, SymbolKey);

/// The least recently used goes first.
pub struct Cache {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    bytes: usize,
    /// Counts uses.
    clock: u64,
    /// Counts what was forgotten: what was looked for before may be there now.
    changes: u64,
    hits: u64,
    misses: u64,
}

enum Entry {
    Loaded { artifact: Arc<[u8]>, used: u64 },
    Missing { since: Instant },
}

/// What the cache says.
pub enum Cached {
    Artifact(Arc<[u8]>),
    /// There was none, not long ago.
    Missing,
    /// To be given back with what is found.
    Unknown(Changes),
}

/// How much had changed when something was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes(u64);

/// Uses that found something, that did not, and the bytes held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheFigures {
    pub hits: u64,
    pub misses: u64,
    pub bytes: usize,
}

impl Cache {
    pub fn new(bytes_max: usize) -> Cache {
        Cache { bytes_max, state: Mutex::default() }
    }

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

    /// One that is larger than all of the cache is kept alone: reading it for each trace would cost more.
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

    /// Something about it has changed.
    pub fn forget(&self, project: Uuid, key: &SymbolKey) {
        let mut state = self.state.lock();
        state.changes += 1;
        state.remove(&(project, key.clone()));
    }

    /// The same of everything of a project.
    pub fn forget_all(&self, project: Uuid) {
        let mut state = self.state.lock();
        state.changes += 1;
        let keys: Vec<Key> = state.entries.keys().filter(|(known, _)| *known == project).cloned().collect();
        keys.iter().for_each(|key| state.remove(key));
    }

    pub fn figures(&self) -> CacheFigures {
        let state = self.state.lock();
        CacheFigures { hits: state.hits, misses: state.misses, bytes: state.bytes }
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(Entry::Loaded { artifact, .. }) = self.entries.remove(key) {
            self.bytes -= artifact.len();
        }
    }

    /// Whether there was one.
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
    fn the_least_recently_used_goes_first() {
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
        assert_eq!((is_there("1"), is_there("4"), cache.figures().bytes), (false, true, 11), "alone");
    }

    #[test]
    fn what_was_looked_for_before_a_change_says_nothing_after_it() {
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
