//! A simulated disk in memory that loses unsynced writes, for tests.
//!
//! Every choice comes from the seed, so a failing run can be repeated. Each file has the bytes a reader sees (`live`),
//! the bytes on stable storage (`durable`) and the pending writes between the two. Each created, renamed or removed name
//! is pending until `sync_dir` of its directory. `power_cut` returns the disk found afterwards: unsynced writes are lost,
//! torn at any byte or applied out of order, and each unsynced name is kept or lost. The disk before the cut is dead.

mod fate;
mod file;
mod random;
mod rounds;
mod state;

pub use random::Random;
pub use rounds::{is_long, rounds};

use super::{Directories, Disk, DiskFile, DiskLock, make_durable, parent_of};
use fate::{Change, FileState, NameChangeKind};
use file::{PAGE_BYTES, SimFile};
use parking_lot::Mutex;
use state::{DirChange, Faults, State};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The simulated disk. Clones share its state.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
    /// Directories whose names the process has synced. Reset when the process dies.
    known: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl SimDisk {
    /// An empty disk with the directory `/`.
    pub fn new(seed: u64) -> SimDisk {
        SimDisk::of(State::new(Random::new(seed)))
    }

    fn of(state: State) -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(state)), known: Arc::default() }
    }

    /// The disk found after a power cut. Injected failures end, the capacity stays. All further operations on this disk
    /// and its files fail.
    pub fn power_cut(&self) -> SimDisk {
        SimDisk::of(self.state.lock().after_power_cut())
    }

    /// The disk after the process was killed: all writes survive, locks are released, old handles are dead.
    pub fn process_killed(&self) -> SimDisk {
        SimDisk::of(self.state.lock().after_kill())
    }

    /// Limits the size of all named files. A write beyond it writes what fits and fails with ENOSPC. `None` is unlimited.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state.lock().capacity = bytes;
    }

    /// Size of all named files.
    pub fn used(&self) -> u64 {
        self.state.lock().used()
    }

    /// After `good` successful writes, one write fails with EIO. Any part of it may be written.
    pub fn fail_write_after(&self, good: u64) {
        self.state.lock().faults.write = Some(good);
    }

    /// After `good` successful syncs, one sync of a file fails with EIO. Each of its unsynced bytes is then kept or lost.
    pub fn fail_sync_after(&self, good: u64) {
        self.state.lock().faults.sync = Some(good);
    }

    /// After `good` successful reads, one read fails with EIO.
    pub fn fail_read_after(&self, good: u64) {
        self.state.lock().faults.read = Some(good);
    }

    /// After `complete` more changes to the disk, the process dies in the middle of the next one. Every operation fails
    /// from then on; `power_cut` or `process_killed` return the disk it leaves.
    pub fn die_after(&self, complete: u64) {
        self.state.lock().faults.death = Some(complete);
    }

    /// Counts as a change for `die_after`, without changing the disk.
    pub fn step(&self) -> io::Result<()> {
        self.state.lock().changeable()
    }

    /// Whether the process has died.
    pub fn is_dead(&self) -> bool {
        self.state.lock().dead
    }

    /// Ends all injected failures and removes the capacity limit.
    pub fn heal(&self) {
        let mut state = self.state.lock();
        state.capacity = None;
        state.faults = Faults::default();
    }

    /// Makes the 4 KiB page at `offset` of a file unreadable.
    pub fn break_page(&self, path: &Path, offset: u64) {
        let mut state = self.state.lock();
        if let Some(&id) = state.names.get(path) {
            state.files[id].broken_pages.insert(offset / PAGE_BYTES);
        }
    }

    /// Flips the bits of `mask` in the byte at `offset`. False past the end of the file.
    pub fn flip(&self, path: &Path, offset: u64, mask: u8) -> bool {
        let mut state = self.state.lock();
        let Some(&id) = state.names.get(path) else { return false };
        let file = &mut state.files[id];
        let offset = offset as usize;
        if offset >= file.live.len() {
            return false;
        }
        file.live[offset] ^= mask;
        if let Some(byte) = file.durable.get_mut(offset) {
            *byte ^= mask;
        }
        true
    }
}

impl Directories for SimDisk {
    fn is_dir(&self, path: &Path) -> bool {
        self.state.lock().dirs.contains(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.changeable()?;
        state.directory(parent_of(path))?;
        if state.dirs.contains(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.change_dir(DirChange::Make(path.into()));
        Ok(())
    }

    fn sync(&self, dir: &Path) -> io::Result<()> {
        self.sync_dir(dir)
    }
}

impl Disk for SimDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state.lock();
        state.changeable()?;
        state.directory(parent_of(path))?;
        let id = match state.names.get(path) {
            Some(&id) => {
                let file = &mut state.files[id];
                file.live.clear();
                file.pending.push(Change::SetLen(0));
                id
            }
            None => {
                let id = state.files.len();
                state.files.push(FileState::default());
                state.change_name(vec![parent_of(path).into()], NameChangeKind::Create(path.into(), id));
                id
            }
        };
        Ok(Box::new(SimFile { disk: self.clone(), id }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let state = self.state.lock();
        state.alive()?;
        let id = state.id(path)?;
        Ok(Box::new(SimFile { disk: self.clone(), id }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.changeable()?;
        let id = state.id(from)?;
        state.directory(parent_of(to))?;
        let mut dirs = vec![parent_of(from).to_path_buf(), parent_of(to).to_path_buf()];
        dirs.dedup();
        state.change_name(dirs, NameChangeKind::Rename(from.into(), to.into(), id));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.changeable()?;
        let id = state.id(path)?;
        state.change_name(vec![parent_of(path).into()], NameChangeKind::Remove(path.into(), id));
        Ok(())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        make_durable(self, &self.known, path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.changeable()?;
        state.directory(path)?;
        let holds = |inner: &PathBuf| inner != path && inner.starts_with(path);
        if state.names.keys().any(holds) || state.dirs.iter().any(holds) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.change_dir(DirChange::Remove(path.into()));
        drop(state);
        self.known.lock().remove(path);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
        let state = self.state.lock();
        state.alive()?;
        state.directory(dir)?;
        let inside = state.names.iter().filter(|(path, _)| parent_of(path) == dir);
        Ok(inside.map(|(path, &id)| (path.clone(), state.files[id].live.len() as u64)).collect())
    }

    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.state.lock();
        state.alive()?;
        state.directory(dir)?;
        Ok(state.dirs.iter().filter(|path| path.parent() == Some(dir)).cloned().collect())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.changeable()?;
        state.directory(dir)?;
        let pending = std::mem::take(&mut state.names_pending);
        let (now, later): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|change| change.dirs.iter().any(|d| d == dir));
        for change in now {
            change.kind.apply(&mut state.names_durable);
        }
        state.names_pending = later;
        let pending = std::mem::take(&mut state.dirs_pending);
        let (now, later): (Vec<_>, Vec<_>) = pending.into_iter().partition(|change| parent_of(change.path()) == dir);
        now.iter().for_each(|change| change.apply(&mut state.dirs_durable));
        state.dirs_pending = later;
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.state.lock();
        state.names.contains_key(path) || state.dirs.contains(path)
    }

    fn lock(&self, path: &Path) -> io::Result<DiskLock> {
        drop(if self.exists(path) { self.open(path)? } else { self.create(path)? });
        let mut state = self.state.lock();
        if !state.locks.insert(path.into()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(SimLock { disk: self.clone(), path: path.into() }))
    }
}

struct SimLock {
    disk: SimDisk,
    path: PathBuf,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.state.lock().locks.remove(&self.path);
    }
}
