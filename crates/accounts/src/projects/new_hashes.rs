//! Hashes of stored exceptions that were not compared with earlier versions of the grouping rule yet.
//!
//! The pipeline adds hashes before a request is acknowledged, and readers of Issues compare them first
//! (`query`, `issues::family`). After a start, stored rows have hashes that no process may have compared: each
//! project is read once.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use tidewatch_limits as limits;

/// Hashes by project. In memory only.
#[derive(Debug, Default)]
pub struct NewHashes {
    by_project: Mutex<HashMap<u32, ProjectHashes>>,
    /// Held while hashes are compared: who waits for it finds them compared.
    pub comparing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ProjectHashes {
    compared: HashSet<u64>,
    waiting: HashSet<u64>,
    /// Number of times that hashes may have been missed: at the start, and when too many wait.
    missed: u64,
    /// The value of `missed` before the stored rows were last read.
    read: u64,
}

impl Default for ProjectHashes {
    fn default() -> Self {
        ProjectHashes { compared: HashSet::new(), waiting: HashSet::new(), missed: 1, read: 0 }
    }
}

/// Hashes of a project to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingHashes {
    /// Hashes that arrived.
    pub hashes: Vec<u64>,
    /// Stored rows may have further ones. Given to [`NewHashes::read_stored`] once they are compared.
    pub stored: Option<u64>,
}

impl NewHashes {
    /// Adds hashes of stored rows. Those that were compared are ignored.
    pub fn arrived(&self, project: u32, hashes: impl IntoIterator<Item = u64>) {
        let mut hashes = hashes.into_iter().peekable();
        if hashes.peek().is_none() {
            return;
        }
        let mut known = self.by_project.lock();
        let project = known.entry(project).or_default();
        for hash in hashes {
            if project.compared.contains(&hash) {
                continue;
            }
            if project.waiting.len() >= limits::NEW_HASHES_MAX {
                project.missed += 1;
                return;
            }
            project.waiting.insert(hash);
        }
    }

    /// The hashes to compare; `None` when there are none.
    pub fn waiting(&self, project: u32) -> Option<WaitingHashes> {
        let mut known = self.by_project.lock();
        let project = known.entry(project).or_default();
        let stored = (project.read < project.missed).then_some(project.missed);
        if project.waiting.is_empty() && stored.is_none() {
            return None;
        }
        Some(WaitingHashes { hashes: project.waiting.iter().copied().collect(), stored })
    }

    /// Those of the hashes that were not compared.
    pub fn not_compared(&self, project: u32, hashes: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let known = self.by_project.lock();
        let project = known.get(&project);
        let is_compared = |hash: &u64| project.is_some_and(|project| project.compared.contains(hash));
        hashes.into_iter().filter(|hash| !is_compared(hash)).collect()
    }

    /// Marks hashes as compared.
    pub fn compared(&self, project: u32, hashes: &[u64]) {
        let mut known = self.by_project.lock();
        let project = known.entry(project).or_default();
        if project.compared.len() + hashes.len() > limits::KNOWN_ISSUES_MAX {
            // They are compared again when they arrive again, with the same result.
            project.compared.clear();
        }
        for hash in hashes {
            project.waiting.remove(hash);
            project.compared.insert(*hash);
        }
    }

    /// Marks the hashes of stored rows as compared. `stored`: see [`WaitingHashes::stored`].
    pub fn read_stored(&self, project: u32, stored: u64) {
        self.by_project.lock().entry(project).or_default().read = stored;
    }

    /// Lets hashes be compared again.
    pub(super) fn forget(&self, project: u32, hashes: &[u64]) {
        if let Some(project) = self.by_project.lock().get_mut(&project) {
            for hash in hashes {
                project.compared.remove(hash);
            }
        }
        self.arrived(project, hashes.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(new: &NewHashes) -> Option<(Vec<u64>, Option<u64>)> {
        new.waiting(1).map(|mut waiting| {
            waiting.hashes.sort_unstable();
            (waiting.hashes, waiting.stored)
        })
    }

    // Issues: a hash is compared once; stored rows are read once after a start.
    #[test]
    fn a_hash_waits_until_it_is_compared() {
        let new = NewHashes::default();
        new.arrived(1, [5, 6]);
        assert_eq!(waiting(&new), Some((vec![5, 6], Some(1))));
        new.read_stored(1, 1);
        new.compared(1, &[5]);
        new.arrived(1, [5, 7]);
        assert_eq!(waiting(&new), Some((vec![6, 7], None)));
        new.compared(1, &[6, 7]);
        assert_eq!(waiting(&new), None);
        new.forget(1, &[6]);
        assert_eq!(waiting(&new), Some((vec![6], None)));
    }

    #[test]
    fn what_waits_is_bounded_and_read_from_the_store() {
        let new = NewHashes::default();
        new.read_stored(1, 1);
        new.arrived(1, 0..limits::NEW_HASHES_MAX as u64 + 5);
        let (hashes, stored) = waiting(&new).expect("hashes wait");
        assert_eq!((hashes.len(), stored), (limits::NEW_HASHES_MAX, Some(2)));
    }
}
