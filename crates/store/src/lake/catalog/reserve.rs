//! A file of some megabytes next to the catalog that is given up when the disk is full, so that a transaction which
//! removes parts can still be committed and space can come back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// More than SQLite appends to its log between two checkpoints.
const RESERVE_BYTES: u64 = 4 << 20;
/// The reserve is made again when the disk has so many times its size.
const FREE_FACTOR: u64 = 8;

pub struct Reserve {
    path: PathBuf,
    is_there: bool,
}

impl Reserve {
    /// `catalog`: the database file. Makes the reserve when there is room.
    pub fn beside(catalog: &Path) -> Reserve {
        let path = catalog.with_extension("reserve");
        let is_there = fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES);
        let mut reserve = Reserve { path, is_there };
        reserve.restore();
        reserve
    }

    /// Gives the space back to the disk; false when there was none.
    pub fn release(&mut self) -> bool {
        if !std::mem::take(&mut self.is_there) {
            return false;
        }
        let released = fs::remove_file(&self.path).is_ok();
        if released {
            tracing::warn!("the disk is full: using the space that was reserved to remove old data");
        }
        released
    }

    /// Makes the reserve again once the disk has room. Nothing fails without it.
    pub fn restore(&mut self) {
        if self.is_there || !has_room(&self.path) {
            return;
        }
        match self.write() {
            Ok(()) => self.is_there = true,
            Err(error) => {
                let _ = fs::remove_file(&self.path);
                tracing::debug!(%error, "cannot reserve space for removals on a full disk");
            }
        }
    }

    fn write(&self) -> io::Result<()> {
        let mut file = File::create(&self.path)?;
        // No zeros: some file systems store none.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut block = Vec::with_capacity(64 << 10);
        for _ in 0..RESERVE_BYTES / (64 << 10) {
            block.clear();
            while block.len() < 64 << 10 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                block.extend_from_slice(&state.to_le_bytes());
            }
            file.write_all(&block)?;
        }
        file.sync_all()
    }
}

fn has_room(path: &Path) -> bool {
    let folder = tidewatch_journal::disk::parent_of(path);
    rustix::fs::statvfs(folder)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= RESERVE_BYTES.saturating_mul(FREE_FACTOR))
}
