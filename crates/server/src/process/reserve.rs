//! Reserved disk space that is released at start, so that the control database can be opened on a full disk.
//!
//! SQLite needs a few pages besides the database for its readers. It frees them when it closes, and another process may
//! fill the disk before the next start: then no data could be read or removed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidewatch_limits::CONTROL_RESERVE_BYTES;

/// The reserve file of a data directory.
pub struct Reserve(PathBuf);

impl Reserve {
    /// The reserve file of this data directory, which may not exist.
    pub fn of(data: &Path) -> Reserve {
        Reserve(data.join("control.reserve"))
    }

    /// Removes the file, which releases its space.
    pub fn release(&self) {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %self.0.display(), "cannot give reserved space back: {error}");
            }
            _ => {}
        }
    }

    /// Reserves the space again, as far as there is any. Failures are only logged.
    pub fn restore(&self) {
        if let Err(error) = self.fill() {
            tracing::debug!(%error, path = %self.0.display(), "cannot reserve space: {error}");
        }
    }

    fn fill(&self) -> io::Result<()> {
        let mut file = File::create(&self.0)?;
        let mut block = [0; 4096];
        // File systems that compress or deduplicate store random bytes in full.
        let mut random = fastrand::Rng::with_seed(CONTROL_RESERVE_BYTES as u64);
        for _ in 0..CONTROL_RESERVE_BYTES / block.len() {
            random.fill(&mut block);
            file.write_all(&block)?;
        }
        file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_reserved_and_released() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let reserve = Reserve::of(folder.path());
        reserve.release();
        for _ in 0..2 {
            reserve.restore();
            let length = fs::metadata(folder.path().join("control.reserve")).expect("it is there").len();
            assert_eq!(length, CONTROL_RESERVE_BYTES as u64);
        }
        reserve.release();
        assert!(!folder.path().join("control.reserve").exists());
    }
}
