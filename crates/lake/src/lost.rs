//! `lost/` in the data directory: files that the store sets aside because it cannot prove that they may be removed.
//!
//! ```text
//! lost/<day set aside>/<path below the data directory>
//! ```
//!
//! A file keeps its content and its relative path, so that an operator can move it back. Maintenance removes folders of
//! days that are more than [`LOST_DAYS`] old. The day comes from the caller and is never earlier than
//! [`Lost::not_before`]: a clock that starts in 1970 must not make a file look old.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tidewatch_journal::disk::{Disk, parent_of};

use tidewatch_store::days::{day_name, day_named};
use tidewatch_store::{LostFiles, LostStats, StoreError};

/// Days that a file stays in `lost/`.
pub const LOST_DAYS: i32 = 30;

const FOLDER: &str = "lost";

/// The folder `lost/` of one data directory.
pub struct Lost {
    disk: Arc<dyn Disk>,
    /// The data directory.
    data: PathBuf,
    state: Mutex<State>,
}

struct State {
    stats: LostStats,
    /// The latest day that the stored data proves to have begun.
    not_before: i32,
}

impl LostFiles for Lost {
    fn keep(&self, name: &Path, bytes: &[u8], today: i32) -> Result<PathBuf, StoreError> {
        Lost::keep(self, name, bytes, today)
    }

    fn stats(&self) -> LostStats {
        Lost::stats(self)
    }
}

impl Lost {
    /// Counts the files in the folder, which is created with the first file. Fails when it cannot be listed.
    pub fn open(disk: Arc<dyn Disk>, data: &Path) -> Result<Lost, StoreError> {
        let lost = Lost {
            disk,
            data: data.to_path_buf(),
            state: Mutex::new(State { stats: LostStats::default(), not_before: i32::MIN }),
        };
        lost.recount()?;
        Ok(lost)
    }

    /// Number and size of the files.
    pub fn stats(&self) -> LostStats {
        self.state.lock().stats
    }

    /// Sets a lower bound for the day of new files: data was received on `day` (days since 1970-01-01, UTC).
    pub fn not_before(&self, day: i32) {
        let state = &mut *self.state.lock();
        state.not_before = state.not_before.max(day);
    }

    /// Moves a file of the data directory to `lost/` under the day `today` (days since 1970-01-01, UTC) and returns its
    /// new path. Durable on return. Logs nothing.
    pub fn set_aside(&self, path: &Path, today: i32) -> Result<PathBuf, StoreError> {
        let name = path.strip_prefix(&self.data).unwrap_or(path);
        let (bytes, to) = {
            let file = self.disk.open(path).map_err(|e| StoreError::io("open", path, e))?;
            (file.len().map_err(|e| StoreError::io("read", path, e))?, self.place(name, today)?)
        };
        self.disk.rename(path, &to).map_err(|e| StoreError::io("set aside", path, e))?;
        // The new name is synced first: after a crash in between, the file has two names rather than none.
        for folder in [parent_of(&to), parent_of(path)] {
            self.disk.sync_dir(folder).map_err(|e| StoreError::io("sync", folder, e))?;
        }
        self.added(bytes);
        Ok(to)
    }

    /// Writes `bytes` to `lost/` under the day `today` and `name`, a path relative to the data directory. Returns the
    /// path of the file. Durable on return. Logs nothing.
    pub fn keep(&self, name: &Path, bytes: &[u8], today: i32) -> Result<PathBuf, StoreError> {
        let to = self.place(name, today)?;
        let file = self.disk.create(&to).map_err(|e| StoreError::io("create", &to, e))?;
        let written = file.write_at(bytes, 0).and_then(|()| file.sync_data());
        if let Err(error) = written {
            let _ = self.disk.remove(&to);
            return Err(StoreError::io("write", &to, error));
        }
        let folder = parent_of(&to);
        self.disk.sync_dir(folder).map_err(|e| StoreError::io("sync", folder, e))?;
        self.added(bytes.len() as u64);
        Ok(to)
    }

    /// Removes files that were set aside more than [`LOST_DAYS`] before `today`.
    pub fn remove_old(&self, today: i32) -> Result<(), StoreError> {
        if self.stats().files == 0 {
            return Ok(());
        }
        for folder in dirs(&*self.disk, &self.folder())? {
            let day = folder.file_name().and_then(|name| day_named(name.to_str()?));
            if day.is_some_and(|day| day < today.saturating_sub(LOST_DAYS)) {
                tracing::info!(path = %folder.display(), "removing files that were set aside {LOST_DAYS} days ago");
                self.remove_all(&folder)?;
            }
        }
        self.recount()
    }

    fn folder(&self) -> PathBuf {
        self.data.join(FOLDER)
    }

    /// An unused path for `name`, in a durable folder.
    fn place(&self, name: &Path, today: i32) -> Result<PathBuf, StoreError> {
        let today = today.max(self.state.lock().not_before);
        let path = self.folder().join(day_name(today)).join(name);
        let folder = parent_of(&path);
        self.disk.create_dir_all(folder).map_err(|e| StoreError::io("create", folder, e))?;
        let numbered = |number: u32| match number {
            0 => path.clone(),
            number => {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{number}"));
                PathBuf::from(name)
            }
        };
        let free = (0..).map(numbered).find(|path| !self.disk.exists(path));
        Ok(free.expect("some number is free"))
    }

    fn added(&self, bytes: u64) {
        let stats = &mut self.state.lock().stats;
        stats.files += 1;
        stats.bytes += bytes;
    }

    fn remove_all(&self, folder: &Path) -> Result<(), StoreError> {
        for inner in dirs(&*self.disk, folder)? {
            self.remove_all(&inner)?;
        }
        for (path, _) in files(&*self.disk, folder)? {
            self.disk.remove(&path).map_err(|e| StoreError::io("remove", &path, e))?;
        }
        self.disk.remove_dir(folder).map_err(|e| StoreError::io("remove", folder, e))
    }

    fn recount(&self) -> Result<(), StoreError> {
        let mut stats = LostStats::default();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            folders.extend(dirs(&*self.disk, &folder)?);
            for (_, bytes) in files(&*self.disk, &folder)? {
                stats.files += 1;
                stats.bytes += bytes;
            }
        }
        self.state.lock().stats = stats;
        Ok(())
    }
}

fn dirs(disk: &dyn Disk, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    none_if_missing(disk.list_dirs(folder)).map_err(|e| StoreError::io("list", folder, e))
}

fn files(disk: &dyn Disk, folder: &Path) -> Result<Vec<(PathBuf, u64)>, StoreError> {
    none_if_missing(disk.list(folder)).map_err(|e| StoreError::io("list", folder, e))
}

fn none_if_missing<T>(listed: io::Result<Vec<T>>) -> io::Result<Vec<T>> {
    match listed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed,
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_journal::disk::sim::SimDisk;

    use super::*;

    const TODAY: i32 = 20_778;

    fn open(disk: &SimDisk) -> Lost {
        Lost::open(Arc::new(disk.clone()), Path::new("/data")).unwrap()
    }

    fn write(disk: &SimDisk, path: &str, bytes: &[u8]) {
        let path = Path::new(path);
        disk.create_dir_all(parent_of(path)).unwrap();
        let file = disk.create(path).unwrap();
        file.write_at(bytes, 0).unwrap();
        file.sync_data().unwrap();
        disk.sync_dir(parent_of(path)).unwrap();
    }

    #[test]
    fn a_file_keeps_its_bytes_and_its_path() {
        let disk = SimDisk::new(1);
        let lost = open(&disk);
        for _ in 0..2 {
            write(&disk, "/data/parts/spans/2026-11-20/7.parquet", b"rows");
            lost.set_aside(Path::new("/data/parts/spans/2026-11-20/7.parquet"), TODAY).unwrap();
        }
        let first = Path::new("/data/lost/2026-11-21/parts/spans/2026-11-20/7.parquet");
        let second = Path::new("/data/lost/2026-11-21/parts/spans/2026-11-20/7.parquet.1");
        let kept = lost.keep(Path::new("journal/12"), b"record", TODAY).unwrap();
        assert_eq!(kept, Path::new("/data/lost/2026-11-21/journal/12"));
        assert_eq!(lost.stats(), LostStats { files: 3, bytes: 14 });
        let after = disk.power_cut();
        for (path, bytes) in [(first, &b"rows"[..]), (second, b"rows"), (&kept, b"record")] {
            let mut found = vec![0; bytes.len()];
            after.open(path).unwrap().read_exact_at(&mut found, 0).unwrap();
            assert_eq!(found, bytes, "{}", path.display());
        }
        assert!(!after.exists(Path::new("/data/parts/spans/2026-11-20/7.parquet")));
        assert_eq!(open(&after).stats(), LostStats { files: 3, bytes: 14 });
    }

    #[test]
    fn files_are_removed_after_thirty_days_and_not_before() {
        let disk = SimDisk::new(1);
        let lost = open(&disk);
        lost.keep(Path::new("old/er"), b"1", TODAY - LOST_DAYS - 1).unwrap();
        lost.keep(Path::new("old"), b"22", TODAY - LOST_DAYS).unwrap();
        lost.not_before(TODAY - 1);
        // The clock was reset.
        lost.keep(Path::new("new"), b"333", 0).unwrap();
        lost.remove_old(TODAY).unwrap();
        assert_eq!(lost.stats(), LostStats { files: 2, bytes: 5 });
        lost.remove_old(TODAY + LOST_DAYS).unwrap();
        assert_eq!(lost.stats(), LostStats::default());
        assert_eq!(disk.list_dirs(Path::new("/data/lost")).unwrap(), Vec::<PathBuf>::new());
    }
}
