//! Unlinks files that the catalog no longer lists: at once, or after a copy of the store is complete.
//!
//! The catalog keeps the ids of removed files until their unlinking is durable, so that a file that reappears after a
//! power failure is recognized as removable.
//!
//! Invariant: a file is unlinked only after its removal is durable in the catalog.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tidewatch_journal::disk::{Disk, parent_of};

/// The catalog deletes its entries of removed files in batches of at least this many.
const REMOVED_MIN: usize = 64;

/// Unlinks the files of one store, unless a [`Hold`] exists.
pub struct Removal {
    disk: Arc<dyn Disk>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    holds: usize,
    /// Files to unlink when the last hold ends.
    pending: Vec<(u64, PathBuf)>,
    /// Unlinked files that the catalog still lists as removed.
    removed: Vec<(u64, PathBuf)>,
}

/// Durably unlinked files: the catalog may delete their entries.
#[derive(Default)]
pub struct RemovedFiles(Vec<(u64, PathBuf)>);

impl RemovedFiles {
    /// The ids of the files.
    pub fn ids(&self) -> Vec<u64> {
        self.0.iter().map(|(id, _)| *id).collect()
    }
}

/// While a hold exists, no file of the store is unlinked.
pub struct Hold(Arc<Removal>);

impl Removal {
    /// Without holds.
    pub fn new(disk: Arc<dyn Disk>) -> Arc<Removal> {
        Arc::new(Removal { disk, state: Mutex::default() })
    }

    /// Unlinks a part or a key file. A file that cannot be unlinked is removed at the next start, by its id.
    pub fn remove(&self, id: u64, path: PathBuf) {
        let mut state = self.state.lock();
        match state.holds {
            0 => {
                drop(state);
                self.unlink(id, &path);
            }
            _ => state.pending.push((id, path)),
        }
    }

    /// Defers unlinking until the hold, and every other one, is dropped.
    pub fn hold(self: &Arc<Self>) -> Hold {
        self.state.lock().holds += 1;
        Hold(Arc::clone(self))
    }

    /// Syncs the folders of unlinked files and returns the files, which cannot reappear. Returns none while there are
    /// fewer than [`REMOVED_MIN`], or when a sync fails.
    pub fn take_removed(&self) -> RemovedFiles {
        let removed = {
            let state = &mut *self.state.lock();
            if state.removed.len() < REMOVED_MIN {
                return RemovedFiles::default();
            }
            RemovedFiles(std::mem::take(&mut state.removed))
        };
        let folders: BTreeSet<&Path> = removed.0.iter().map(|(_, path)| parent_of(path)).collect();
        if folders.into_iter().all(|folder| self.disk.sync_dir(folder).is_ok()) {
            return removed;
        }
        self.put_back(removed);
        RemovedFiles::default()
    }

    /// Returns files whose catalog entries could not be deleted.
    pub fn put_back(&self, RemovedFiles(removed): RemovedFiles) {
        self.state.lock().removed.extend(removed);
    }

    fn unlink(&self, id: u64, path: &Path) {
        match self.disk.remove(path) {
            Ok(()) => self.state.lock().removed.push((id, path.to_path_buf())),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot remove a file that is no longer needed");
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let pending = {
            let state = &mut *self.0.state.lock();
            state.holds -= 1;
            if state.holds > 0 {
                return;
            }
            std::mem::take(&mut state.pending)
        };
        pending.into_iter().for_each(|(id, path)| self.0.unlink(id, &path));
    }
}
