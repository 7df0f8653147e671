//! A file of some megabytes next to the catalog that is given up when the disk is full, so that a transaction which
//! removes parts can still be committed and space can come back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// More than SQLite appends to its log between two checkpoints.
const RESERVE_BYTES: u64 = 4 << 20;
const BLOCK_BYTES: usize = 64 << 10;
/// The reserve is made again when the disk has so many times its size.
const FREE_FACTOR: u64 = 8;

pub struct Reserve {
    /// `None`: there is to be none.
    path: Option<PathBuf>,
    is_there: bool,
}

impl Reserve {
    pub fn none() -> Reserve {
        Reserve { path: None, is_there: false }
    }

    /// `catalog`: the database file. Makes the reserve when there is room.
    pub fn beside(catalog: &Path) -> Reserve {
        let path = catalog.with_extension("reserve");
        let is_there = fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES);
        let mut reserve = Reserve { path: Some(path), is_there };
        reserve.restore();
        reserve
    }

    /// Gives the space back to the disk; false when there was none.
    pub fn release(&mut self) -> bool {
        let is_there = std::mem::take(&mut self.is_there);
        let Some(path) = self.path.as_ref().filter(|_| is_there) else { return false };
        let released = fs::remove_file(path).is_ok();
        if released {
            tracing::warn!("the disk is full: using the space that was reserved to remove old data");
        }
        released
    }

    /// Makes the reserve again once the disk has room. Nothing fails without it.
    pub fn restore(&mut self) {
        let Some(path) = self.path.as_ref().filter(|path| !self.is_there && has_room(path)) else { return };
        match write(path) {
            Ok(()) => self.is_there = true,
            Err(error) => {
                let _ = fs::remove_file(path);
                tracing::debug!(%error, "cannot reserve space for removals on a full disk");
            }
        }
    }
}

fn write(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    // File systems that compress or deduplicate store random bytes in full.
    let mut random = fastrand::Rng::with_seed(RESERVE_BYTES);
    let mut block = vec![0; BLOCK_BYTES];
    for _ in 0..RESERVE_BYTES / BLOCK_BYTES as u64 {
        random.fill(&mut block);
        file.write_all(&block)?;
    }
    Ok(())
}

fn has_room(path: &Path) -> bool {
    let folder = tidewatch_journal::disk::parent_of(path);
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= RESERVE_BYTES.saturating_mul(FREE_FACTOR))
}
