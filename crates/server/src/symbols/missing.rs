//! Which debug files and source maps stack traces asked for in vain, since the start.

use std::collections::HashMap;

use parking_lot::Mutex;
use tidewatch_symbols::Need;
use uuid::Uuid;

use crate::limits;

/// By project.
#[derive(Default)]
pub struct Missing(Mutex<HashMap<Uuid, HashMap<Need, Waiting>>>);

/// Traces that wait for an upload. Nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub traces: u64,
    pub first_ns: i64,
    pub last_ns: i64,
}

impl Missing {
    /// Beyond [`limits::MISSING_SYMBOLS_MAX`] of a project the one that was asked for longest ago is forgotten.
    pub fn add(&self, project: Uuid, need: Need, now_ns: i64) {
        let mut all = self.0.lock();
        let of_project = all.entry(project).or_default();
        if !of_project.contains_key(&need)
            && of_project.len() >= limits::MISSING_SYMBOLS_MAX
            && let Some(oldest) =
                of_project.iter().min_by_key(|(_, waiting)| waiting.last_ns).map(|(need, _)| need.clone())
        {
            of_project.remove(&oldest);
        }
        let waiting = of_project.entry(need).or_insert(Waiting { traces: 0, first_ns: now_ns, last_ns: now_ns });
        waiting.traces += 1;
        waiting.last_ns = now_ns;
    }

    /// It is there now.
    pub fn found(&self, project: Uuid, need: &Need) {
        if let Some(of_project) = self.0.lock().get_mut(&project) {
            of_project.remove(need);
        }
    }

    /// The latest first.
    pub fn list(&self, project: Uuid) -> Vec<(Need, Waiting)> {
        let all = self.0.lock();
        let mut list: Vec<_> =
            all.get(&project).into_iter().flatten().map(|(need, waiting)| (need.clone(), *waiting)).collect();
        list.sort_by_key(|(_, waiting)| std::cmp::Reverse(waiting.last_ns));
        list
    }
}
