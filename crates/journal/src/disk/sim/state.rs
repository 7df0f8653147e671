//! The content of the simulated disk: live, durable and pending.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::fate::{FileState, NameChange, NameChangeKind};
use super::random::Random;
use crate::disk::parent_of;

/// The content of the disk, live and durable, and what is to fail.
pub(super) struct State {
    pub random: Random,
    /// Indices are never reused: an open file outlives its name.
    pub files: Vec<FileState>,
    pub names: BTreeMap<PathBuf, usize>,
    pub names_durable: BTreeMap<PathBuf, usize>,
    pub names_pending: Vec<NameChange>,
    pub dirs: BTreeSet<PathBuf>,
    pub dirs_durable: BTreeSet<PathBuf>,
    pub dirs_pending: Vec<DirChange>,
    pub locks: BTreeSet<PathBuf>,
    /// Bytes of all named files; `None` is unlimited.
    pub capacity: Option<u64>,
    pub faults: Faults,
    pub dead: bool,
}

/// Countdowns of successful operations until the one that fails; `None` never fails.
#[derive(Default)]
pub(super) struct Faults {
    pub write: Option<u64>,
    pub sync: Option<u64>,
    pub read: Option<u64>,
    pub death: Option<u64>,
}

impl State {
    /// An empty disk with the directory `/`.
    pub fn new(random: Random) -> State {
        let root = BTreeSet::from([PathBuf::from("/")]);
        State {
            random,
            files: Vec::new(),
            names: BTreeMap::new(),
            names_durable: BTreeMap::new(),
            names_pending: Vec::new(),
            dirs: root.clone(),
            dirs_durable: root,
            dirs_pending: Vec::new(),
            locks: BTreeSet::new(),
            capacity: None,
            faults: Faults::default(),
            dead: false,
        }
    }

    /// The state after a power cut: each pending change of a name, a directory or a file is kept, lost or torn.
    pub fn after_power_cut(&mut self) -> State {
        self.dead = true;
        let mut random = Random::new(self.random.next());
        let mut names = self.names_durable.clone();
        for change in &self.names_pending {
            if random.chance(1, 2) {
                change.kind.apply(&mut names);
            }
        }
        let mut dirs = self.dirs_durable.clone();
        for change in &self.dirs_pending {
            if random.chance(1, 2) {
                change.apply(&mut dirs);
            }
        }
        // A lost directory loses its content.
        let found = |path: &Path| path.ancestors().skip(1).all(|above| dirs.contains(above));
        let dirs: BTreeSet<PathBuf> = dirs.iter().filter(|path| found(path)).cloned().collect();
        names.retain(|path, _| dirs.contains(parent_of(path)));
        let files = self.files.iter().map(|file| file.after_power_cut(&mut random)).collect();
        State {
            files,
            names_durable: names.clone(),
            names,
            dirs_durable: dirs.clone(),
            dirs,
            capacity: self.capacity,
            ..State::new(random)
        }
    }

    /// The state after the process was killed: all writes survive, locks are released.
    pub fn after_kill(&mut self) -> State {
        self.dead = true;
        State {
            files: self.files.clone(),
            names: self.names.clone(),
            names_durable: self.names_durable.clone(),
            names_pending: self.names_pending.clone(),
            dirs: self.dirs.clone(),
            dirs_durable: self.dirs_durable.clone(),
            dirs_pending: self.dirs_pending.clone(),
            capacity: self.capacity,
            ..State::new(Random::new(self.random.next()))
        }
    }

    pub fn used(&self) -> u64 {
        self.names.values().map(|&id| self.files[id].live.len() as u64).sum()
    }

    pub fn alive(&self) -> io::Result<()> {
        if self.dead { Err(io::Error::other("the power is out")) } else { Ok(()) }
    }

    /// Like `alive`, before a change to the disk. Counts down `Faults::death`.
    pub fn changeable(&mut self) -> io::Result<()> {
        self.alive()?;
        self.dead = due(&mut self.faults.death);
        self.alive()
    }

    pub fn id(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub fn directory(&self, path: &Path) -> io::Result<()> {
        if self.dirs.contains(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    pub fn change_dir(&mut self, change: DirChange) {
        change.apply(&mut self.dirs);
        self.dirs_pending.push(change);
    }

    pub fn change_name(&mut self, dirs: Vec<PathBuf>, kind: NameChangeKind) {
        kind.apply(&mut self.names);
        self.names_pending.push(NameChange { dirs, kind });
    }
}

/// A created or removed directory whose parent is not synced yet.
#[derive(Clone)]
pub(super) enum DirChange {
    Make(PathBuf),
    Remove(PathBuf),
}

impl DirChange {
    pub fn path(&self) -> &Path {
        match self {
            DirChange::Make(path) | DirChange::Remove(path) => path,
        }
    }

    pub fn apply(&self, dirs: &mut BTreeSet<PathBuf>) {
        match self {
            DirChange::Make(path) => drop(dirs.insert(path.clone())),
            DirChange::Remove(path) => drop(dirs.remove(path)),
        }
    }
}

/// Counts down. True once, for the failing call.
pub(super) fn due(countdown: &mut Option<u64>) -> bool {
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

/// The injected error.
pub(super) fn eio() -> io::Error {
    io::Error::other("input/output error (simulated)")
}
