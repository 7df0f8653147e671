//! The time of the last use of each upload by a stack trace: in memory, written to disk about once an hour.

use std::collections::HashMap;

use parking_lot::Mutex;
use uuid::Uuid;

use super::keys::SymbolKey;
use super::store::SymbolStore;
use tidewatch_limits as limits;

/// Times of use since the start, at most one entry per upload.
#[derive(Default)]
pub struct LastUsed(Mutex<HashMap<(Uuid, SymbolKey), Use>>);

/// Times in nanoseconds since the epoch.
#[derive(Debug, Clone, Copy)]
struct Use {
    last_ns: i64,
    /// The time on disk; `None`: not read yet.
    written_ns: Option<i64>,
}

impl LastUsed {
    /// Records the use of an upload whose artifact exists. `script`: the script whose function names are in its source
    /// map's artifact.
    pub fn add(&self, project: Uuid, key: &SymbolKey, script: Option<SymbolKey>, now_ns: i64) {
        let mut last_used = self.0.lock();
        for key in [Some(key.clone()), script].into_iter().flatten() {
            let entry = last_used.entry((project, key)).or_insert(Use { last_ns: now_ns, written_ns: None });
            entry.last_ns = entry.last_ns.max(now_ns);
        }
    }

    /// When an upload was last used since the start. Nanoseconds since the epoch.
    pub fn of(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        self.0.lock().get(&(project, key.clone())).map(|used| used.last_ns)
    }

    /// Removes the entry of a removed upload.
    pub fn forget(&self, project: Uuid, key: &SymbolKey) {
        self.0.lock().remove(&(project, key.clone()));
    }

    /// Removes all entries of a project.
    pub fn forget_all(&self, project: Uuid) {
        self.0.lock().retain(|(known, _), _| *known != project);
    }

    /// Writes times that are [`limits::SYMBOL_USE_PAUSE`] newer than those on disk. Blocks.
    pub fn save(&self, store: &SymbolStore) -> std::io::Result<()> {
        let pause = i64::try_from(limits::SYMBOL_USE_PAUSE.as_nanos()).unwrap_or(i64::MAX);
        let is_due = |used: &Use| used.written_ns.is_none_or(|written| used.last_ns.saturating_sub(written) >= pause);
        let due: Vec<_> =
            self.0.lock().iter().filter(|(_, used)| is_due(used)).map(|(key, used)| (key.clone(), *used)).collect();
        for ((project, key), used) in due {
            let known = store.used(project, &key);
            let is_new = known.is_none_or(|known| used.last_ns.saturating_sub(known) >= pause);
            if is_new {
                store.put_used(project, &key, used.last_ns)?;
            }
            if let Some(entry) = self.0.lock().get_mut(&(project, key)) {
                entry.written_ns = if is_new { Some(used.last_ns) } else { known };
            }
        }
        Ok(())
    }
}
