//! A simulated disk in memory that loses unsynced writes, for tests.
//!
//! Every choice comes from the seed, so a failing run can be repeated. Each file has the bytes a reader sees (`live`),
//! the bytes on stable storage (`durable`) and the pending writes between the two. Each created, renamed or removed name
//! is pending until `sync_dir` of its directory. `power_cut` returns the disk found afterwards: unsynced writes are lost,
//! torn at any byte or applied out of order, and each unsynced name is kept or lost. The disk before the cut is dead.

mod fate;
mod random;

pub use random::Random;

use super::{Directories, Disk, DiskFile, DiskLock, make_durable, parent_of};
use fate::{Change, FileState, NameChange, NameChangeKind, write};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PAGE_BYTES: u64 = 4096;

/// The simulated disk. Clones share its state.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
    /// Directories whose names the process has synced. Reset when the process dies.
    known: Arc<Mutex<BTreeSet<PathBuf>>>,
}

struct State {
    random: Random,
    /// Indices are never reused: an open file outlives its name.
    files: Vec<FileState>,
    names: BTreeMap<PathBuf, usize>,
    names_durable: BTreeMap<PathBuf, usize>,
    names_pending: Vec<NameChange>,
    dirs: BTreeSet<PathBuf>,
    dirs_durable: BTreeSet<PathBuf>,
    dirs_pending: Vec<DirChange>,
    locks: BTreeSet<PathBuf>,
    capacity: Option<u64>,
    fail_write_after: Option<u64>,
    fail_sync_after: Option<u64>,
    fail_read_after: Option<u64>,
    die_after: Option<u64>,
    dead: bool,
}

impl SimDisk {
    /// An empty disk with the directory `/`.
    pub fn new(seed: u64) -> SimDisk {
        let state = State {
            random: Random::new(seed),
            files: Vec::new(),
            names: BTreeMap::new(),
            names_durable: BTreeMap::new(),
            names_pending: Vec::new(),
            dirs: BTreeSet::from([PathBuf::from("/")]),
            dirs_durable: BTreeSet::from([PathBuf::from("/")]),
            dirs_pending: Vec::new(),
            locks: BTreeSet::new(),
            capacity: None,
            fail_write_after: None,
            fail_sync_after: None,
            fail_read_after: None,
            die_after: None,
            dead: false,
        };
        SimDisk::of(state)
    }

    fn of(state: State) -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(state)), known: Arc::default() }
    }

    /// The disk found after a power cut. Injected failures end, the capacity stays. All further operations on this disk
    /// and its files fail.
    pub fn power_cut(&self) -> SimDisk {
        let mut state = self.state.lock();
        state.dead = true;
        let mut random = Random::new(state.random.next());
        let mut names = state.names_durable.clone();
        for change in &state.names_pending {
            if random.chance(1, 2) {
                change.kind.apply(&mut names);
            }
        }
        let mut dirs = state.dirs_durable.clone();
        for change in &state.dirs_pending {
            if random.chance(1, 2) {
                change.apply(&mut dirs);
            }
        }
        // A lost directory loses its content.
        let found = |path: &Path| path.ancestors().skip(1).all(|above| dirs.contains(above));
        let dirs: BTreeSet<PathBuf> = dirs.iter().filter(|path| found(path)).cloned().collect();
        names.retain(|path, _| dirs.contains(parent_of(path)));
        let mut files = Vec::with_capacity(state.files.len());
        for file in &state.files {
            let survived = file.after_power_cut(&mut random);
            files.push(FileState {
                live: survived.clone(),
                durable: survived,
                pending: Vec::new(),
                broken_pages: file.broken_pages.clone(),
            });
        }
        let after = State {
            random,
            files,
            names_durable: names.clone(),
            names,
            names_pending: Vec::new(),
            dirs_durable: dirs.clone(),
            dirs_pending: Vec::new(),
            dirs,
            locks: BTreeSet::new(),
            capacity: state.capacity,
            fail_write_after: None,
            fail_sync_after: None,
            fail_read_after: None,
            die_after: None,
            dead: false,
        };
        SimDisk::of(after)
    }

    /// The disk after the process was killed: all writes survive, locks are released, old handles are dead.
    pub fn process_killed(&self) -> SimDisk {
        let mut state = self.state.lock();
        state.dead = true;
        let after = State {
            random: Random::new(state.random.next()),
            files: state.files.clone(),
            names: state.names.clone(),
            names_durable: state.names_durable.clone(),
            names_pending: state.names_pending.clone(),
            dirs: state.dirs.clone(),
            dirs_durable: state.dirs_durable.clone(),
            dirs_pending: state.dirs_pending.clone(),
            locks: BTreeSet::new(),
            capacity: state.capacity,
            fail_write_after: None,
            fail_sync_after: None,
            fail_read_after: None,
            die_after: None,
            dead: false,
        };
        SimDisk::of(after)
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
        self.state.lock().fail_write_after = Some(good);
    }

    /// After `good` successful syncs, one sync of a file fails with EIO. Each of its unsynced bytes is then kept or lost.
    pub fn fail_sync_after(&self, good: u64) {
        self.state.lock().fail_sync_after = Some(good);
    }

    /// After `good` successful reads, one read fails with EIO.
    pub fn fail_read_after(&self, good: u64) {
        self.state.lock().fail_read_after = Some(good);
    }

    /// After `complete` more changes to the disk, the process dies in the middle of the next one. Every operation fails
    /// from then on; `power_cut` or `process_killed` return the disk it leaves.
    pub fn die_after(&self, complete: u64) {
        self.state.lock().die_after = Some(complete);
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
        state.fail_write_after = None;
        state.fail_sync_after = None;
        state.fail_read_after = None;
        state.die_after = None;
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

impl State {
    fn used(&self) -> u64 {
        self.names.values().map(|&id| self.files[id].live.len() as u64).sum()
    }

    fn alive(&self) -> io::Result<()> {
        if self.dead { Err(io::Error::other("the power is out")) } else { Ok(()) }
    }

    /// Like `alive`, before a change to the disk. Counts down `die_after`.
    fn changeable(&mut self) -> io::Result<()> {
        self.alive()?;
        self.dead = due(&mut self.die_after);
        self.alive()
    }

    fn id(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn directory(&self, path: &Path) -> io::Result<()> {
        if self.dirs.contains(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn change_dir(&mut self, change: DirChange) {
        change.apply(&mut self.dirs);
        self.dirs_pending.push(change);
    }

    fn change_name(&mut self, dirs: Vec<PathBuf>, kind: NameChangeKind) {
        kind.apply(&mut self.names);
        self.names_pending.push(NameChange { dirs, kind });
    }
}

/// A created or removed directory whose parent is not synced yet.
#[derive(Clone)]
enum DirChange {
    Make(PathBuf),
    Remove(PathBuf),
}

impl DirChange {
    fn path(&self) -> &Path {
        match self {
            DirChange::Make(path) | DirChange::Remove(path) => path,
        }
    }

    fn apply(&self, dirs: &mut BTreeSet<PathBuf>) {
        match self {
            DirChange::Make(path) => drop(dirs.insert(path.clone())),
            DirChange::Remove(path) => drop(dirs.remove(path)),
        }
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

struct SimFile {
    disk: SimDisk,
    id: usize,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.disk.state.lock();
        state.alive()?;
        Ok(state)
    }
}

impl DiskFile for SimFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state()?;
        let mut keep = bytes.len();
        let mut outcome = Ok(());
        let dies = state.changeable().is_err();
        if dies || due(&mut state.fail_write_after) {
            keep = state.random.below(bytes.len() as u64 + 1) as usize;
            outcome = Err(eio());
        }
        if let Some(capacity) = state.capacity {
            let length = state.files[self.id].live.len() as u64;
            let room = capacity.saturating_sub(state.used());
            let fits = (length + room).saturating_sub(offset).min(keep as u64) as usize;
            if fits < keep {
                keep = fits;
                outcome = Err(io::ErrorKind::StorageFull.into());
            }
        }
        let file = &mut state.files[self.id];
        write(&mut file.live, offset, &bytes[..keep]);
        file.pending.push(Change::Write { offset, bytes: bytes[..keep].to_vec() });
        outcome
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        if due(&mut state.fail_read_after) {
            return Err(eio());
        }
        let FileState { live, broken_pages, .. } = &state.files[self.id];
        let pages = offset / PAGE_BYTES..(offset + into.len() as u64).div_ceil(PAGE_BYTES);
        if broken_pages.range(pages).next().is_some() {
            return Err(eio());
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(live.len());
        let read = into.len().min(live.len() - start);
        into[..read].copy_from_slice(&live[start..start + read]);
        Ok(read)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state()?;
        state.changeable()?;
        let failed = due(&mut state.fail_sync_after);
        let State { files, random, .. } = &mut *state;
        let file = &mut files[self.id];
        if failed {
            file.after_failed_sync(random);
            return Err(eio());
        }
        for change in std::mem::take(&mut file.pending) {
            change.apply(&mut file.durable);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state()?.files[self.id].live.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state()?;
        state.changeable()?;
        let file = &mut state.files[self.id];
        file.live.resize(bytes as usize, 0);
        file.pending.push(Change::SetLen(bytes));
        Ok(())
    }
}

/// Counts down; true once, for the failing call.
fn due(countdown: &mut Option<u64>) -> bool {
    match countdown {
        None => false,
        Some(0) => {
            *countdown = None;
            true
        }
        Some(left) => {
            *left -= 1;
            false
        }
    }
}

fn eio() -> io::Error {
    io::Error::other("input/output error (simulated)")
}
