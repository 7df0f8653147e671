//! Pending changes of files and names, and their outcome after a power cut or a failed sync.

use super::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Clone, Default)]
pub(super) struct FileState {
    pub(super) live: Vec<u8>,
    pub(super) durable: Vec<u8>,
    pub(super) pending: Vec<Change>,
    /// Numbers of the 4 KiB pages that cannot be read.
    pub(super) broken_pages: BTreeSet<u64>,
}

#[derive(Clone)]
pub(super) enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    SetLen(u64),
}

#[derive(Clone)]
pub(super) struct NameChange {
    pub(super) dirs: Vec<PathBuf>,
    pub(super) kind: NameChangeKind,
}

#[derive(Clone)]
pub(super) enum NameChangeKind {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf, usize),
    Remove(PathBuf, usize),
}

impl NameChangeKind {
    pub(super) fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            NameChangeKind::Create(path, id) => {
                names.insert(path.clone(), *id);
            }
            NameChangeKind::Rename(from, to, id) => {
                if names.get(from) == Some(id) {
                    names.remove(from);
                }
                names.insert(to.clone(), *id);
            }
            NameChangeKind::Remove(path, id) => {
                if names.get(path) == Some(id) {
                    names.remove(path);
                }
            }
        }
    }
}

impl FileState {
    /// The file after a power cut.
    pub(super) fn after_power_cut(&self, random: &mut Random) -> FileState {
        let mut bytes = self.durable.clone();
        match random.below(4) {
            0 => {}
            1 => {
                for change in &self.pending {
                    change.apply(&mut bytes);
                }
            }
            // Applied in order, the last one torn.
            2 if !self.pending.is_empty() => {
                let whole = random.below(self.pending.len() as u64) as usize;
                for change in &self.pending[..whole] {
                    change.apply(&mut bytes);
                }
                if let Change::Write { offset, bytes: written } = &self.pending[whole] {
                    let keep = random.below(written.len() as u64 + 1) as usize;
                    write(&mut bytes, *offset, &written[..keep]);
                }
            }
            // Any piece of any write, in any combination.
            _ => {
                for change in &self.pending {
                    change.apply_in_pieces(&mut bytes, random);
                }
            }
        }
        FileState { live: bytes.clone(), durable: bytes, pending: Vec::new(), broken_pages: self.broken_pages.clone() }
    }

    /// Decides the outcome of a failed sync: each piece of an unsynced write is durable or lost, and readers see either
    /// state.
    pub(super) fn after_failed_sync(&mut self, random: &mut Random) {
        for change in std::mem::take(&mut self.pending) {
            change.apply_in_pieces(&mut self.durable, random);
        }
        if random.chance(1, 2) {
            self.live.clone_from(&self.durable);
        }
    }
}

impl Change {
    pub(super) fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes: written } => write(bytes, *offset, written),
            Change::SetLen(length) => bytes.resize(*length as usize, 0),
        }
    }

    fn apply_in_pieces(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let Change::Write { offset, bytes: written } = self else {
            if random.chance(1, 2) {
                self.apply(bytes);
            }
            return;
        };
        // Lost pieces range from whole writes to single sectors.
        let piece_max = [written.len() as u64, 4096, 512][random.below(3) as usize];
        let kept_of_eight = [1, 4, 7][random.below(3) as usize];
        let mut start = 0;
        while start < written.len() {
            let rest = (written.len() - start) as u64;
            let end = start + 1 + random.below(rest.min(piece_max)) as usize;
            if random.chance(kept_of_eight, 8) {
                write(bytes, offset + start as u64, &written[start..end]);
            }
            start = end;
        }
    }
}

pub(super) fn write(into: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let offset = offset as usize;
    let end = offset + bytes.len();
    if into.len() < end {
        into.resize(end, 0);
    }
    into[offset..end].copy_from_slice(bytes);
}
