//! When stack traces were resolved with which upload: noted in memory, written down once an hour.

use std::collections::HashMap;

use parking_lot::Mutex;
use uuid::Uuid;

use super::keys::SymbolKey;
use super::store::SymbolStore;
use tidewatch_limits as limits;

/// Since the start. Holds no more than there are uploads.
#[derive(Default)]
pub struct Uses(Mutex<HashMap<(Uuid, SymbolKey), Use>>);

/// Nanoseconds since the epoch.
#[derive(Debug, Clone, Copy)]
struct Use {
    last_ns: i64,
    /// As on disk; `None`: not looked at yet.
    written_ns: Option<i64>,
}

impl Uses {
    /// Of an upload whose artifact is there. `script`: read for the names in its map's artifact.
    pub fn add(&self, project: Uuid, key: &SymbolKey, script: Option<SymbolKey>, now_ns: i64) {
        let mut uses = self.0.lock();
        for key in [Some(key.clone()), script].into_iter().flatten() {
            let entry = uses.entry((project, key)).or_insert(Use { last_ns: now_ns, written_ns: None });
            entry.last_ns = entry.last_ns.max(now_ns);
        }
    }

    pub fn of(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        self.0.lock().get(&(project, key.clone())).map(|used| used.last_ns)
    }

    pub fn forget(&self, project: Uuid, key: &SymbolKey) {
        self.0.lock().remove(&(project, key.clone()));
    }

    pub fn forget_all(&self, project: Uuid) {
        self.0.lock().retain(|(known, _), _| *known != project);
    }

    /// Writes down what is [`limits::SYMBOL_USE_PAUSE`] newer than what is written. Blocks.
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
