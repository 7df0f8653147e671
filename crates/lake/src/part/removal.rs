//! Unlinking of files that the catalog lists no longer: at once, or when a copy of the store is complete.
//!
//! The catalog remembers the ids of removed files until their unlinking is durable, so that a file which a power cut brings
//! back is known as removable.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tidewatch_journal::disk::{Disk, parent_of};

/// The catalog forgets removed files by so many.
const GONE_MIN: usize = 64;

pub struct Removal {
    disk: Arc<dyn Disk>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    holds: usize,
    /// Files to unlink when the last hold ends.
    waiting: Vec<(u64, PathBuf)>,
    /// Unlinked, and not yet forgotten by the catalog; with their paths.
    gone: Vec<(u64, PathBuf)>,
}

/// Files that the catalog need not remember as removed any more.
#[derive(Default)]
pub struct Gone(Vec<(u64, PathBuf)>);

impl Gone {
    pub fn ids(&self) -> Vec<u64> {
        self.0.iter().map(|(id, _)| *id).collect()
    }
}

/// While it lives no file is unlinked.
pub struct Hold(Arc<Removal>);

impl Removal {
    pub fn new(disk: Arc<dyn Disk>) -> Arc<Removal> {
        Arc::new(Removal { disk, state: Mutex::default() })
    }

    /// Unlinks a part or a key file. What cannot be unlinked is left to the next start, which knows it by its id.
    pub fn remove(&self, id: u64, path: PathBuf) {
        let mut state = self.state.lock();
        match state.holds {
            0 => {
                drop(state);
                self.unlink(id, &path);
            }
            _ => state.waiting.push((id, path)),
        }
    }

    pub fn hold(self: &Arc<Self>) -> Hold {
        self.state.lock().holds += 1;
        Hold(Arc::clone(self))
    }

    /// Files that exist no more, not even after a power cut, once there are enough of them to be worth the syncs.
    pub fn take_gone(&self) -> Gone {
        let gone = {
            let state = &mut *self.state.lock();
            if state.gone.len() < GONE_MIN {
                return Gone::default();
            }
            Gone(std::mem::take(&mut state.gone))
        };
        let folders: BTreeSet<&Path> = gone.0.iter().map(|(_, path)| parent_of(path)).collect();
        if folders.into_iter().all(|folder| self.disk.sync_dir(folder).is_ok()) {
            return gone;
        }
        self.put_back(gone);
        Gone::default()
    }

    /// They could not be forgotten.
    pub fn put_back(&self, Gone(gone): Gone) {
        self.state.lock().gone.extend(gone);
    }

    fn unlink(&self, id: u64, path: &Path) {
        match self.disk.remove(path) {
            Ok(()) => self.state.lock().gone.push((id, path.to_path_buf())),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot remove a file that is no longer needed");
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let waiting = {
            let state = &mut *self.0.state.lock();
            state.holds -= 1;
            if state.holds > 0 {
                return;
            }
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|(id, path)| self.0.unlink(id, &path));
    }
}
