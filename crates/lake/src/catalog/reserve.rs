//! A file of some megabytes next to the catalog that is deleted when the disk is full, so that a transaction that
//! removes parts can still be committed and frees space.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// More than SQLite appends to its log between two checkpoints.
const RESERVE_BYTES: u64 = 4 << 20;
const BLOCK_BYTES: usize = 64 << 10;
/// The reserve is created again when the free space is this many times its size.
const FREE_FACTOR: u64 = 8;

pub struct Reserve {
    /// `None` for a catalog without a reserve.
    path: Option<PathBuf>,
    exists: bool,
}

impl Reserve {
    pub fn none() -> Reserve {
        Reserve { path: None, exists: false }
    }

    /// The reserve of the database file `catalog`, created when there is space.
    pub fn for_catalog(catalog: &Path) -> Reserve {
        let path = catalog.with_extension("reserve");
        let exists = fs::metadata(&path).is_ok_and(|file| file.len() == RESERVE_BYTES);
        let mut reserve = Reserve { path: Some(path), exists };
        reserve.restore();
        reserve
    }

    /// Deletes the reserve; false when there was none.
    pub fn release(&mut self) -> bool {
        let exists = std::mem::take(&mut self.exists);
        let Some(path) = self.path.as_ref().filter(|_| exists) else { return false };
        let released = fs::remove_file(path).is_ok();
        if released {
            tracing::warn!("the disk is full: using the space that was reserved to remove old data");
        }
        released
    }

    /// Creates the reserve again once there is space. Errors are ignored.
    pub fn restore(&mut self) {
        let Some(path) = self.path.as_ref().filter(|path| !self.exists && has_room(path)) else { return };
        match write(path) {
            Ok(()) => self.exists = true,
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
