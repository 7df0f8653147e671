//! The file system interface: positioned reads and writes, and explicit syncs of files and directories.
//!
//! All durable state is written through `Disk`, so that the simulated disk (`sim`) can lose, tear and reorder unsynced
//! writes. The contract is the strictest reading of POSIX: bytes are durable after `sync_data`; created, renamed and
//! removed names are durable after `sync_dir` of their directory; after a failed sync the state of the bytes written
//! since the last successful one is unknown.

#[cfg(any(test, feature = "sim"))]
pub mod hooked;
#[cfg(any(test, feature = "sim"))]
pub mod sim;

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// Dropping it releases the lock.
pub type DiskLock = Box<dyn Any + Send + Sync>;

/// The file system operations that durable storage needs.
pub trait Disk: Send + Sync + 'static {
    /// Creates an empty file, readable and writable, or truncates an existing one. The name is durable after `sync_dir`.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Renames atomically and replaces an existing `to`. Durable after `sync_dir` of both directories.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Open handles stay readable.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory and its missing ancestors. All of them are durable on return, existing ones included: a
    /// process may have died between creating one and syncing its name.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory. Durable after `sync_dir` of its parent.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// The files directly in `dir`, and links to files, with their length in bytes, sorted by path. `NotFound` without such
    /// a directory.
    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>>;

    /// The directories directly in `dir`, sorted by path.
    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes the names in `dir` durable: files created, renamed or removed.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Whether a file or directory has this name.
    fn exists(&self, path: &Path) -> bool;

    /// Takes an exclusive advisory lock on the file at `path`, created when missing. `WouldBlock` when it is taken.
    fn lock(&self, path: &Path) -> io::Result<DiskLock>;
}

/// An open file without a cursor. Threads may share it.
#[expect(clippy::len_without_is_empty, reason = "the length of a file, not of a collection")]
pub trait DiskFile: Send + Sync {
    /// Writes all of `bytes` at `offset` and grows the file when needed. After an error any part may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads up to `into.len()` bytes at `offset` and returns their number. It is smaller only at the end of the file.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Makes the content and the length durable (`fdatasync`).
    ///
    /// After an error the bytes written since the last successful sync may or may not be on the disk. A later successful
    /// sync does not cover them: write them again to another place.
    fn sync_data(&self) -> io::Result<()>;

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Truncates the file, or extends it with a sparse range of zeros.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Fills `into` from `offset`. `UnexpectedEof` when the file is shorter.
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        match self.read_at(into, offset)? {
            read if read == into.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// The operating system's file system.
#[derive(Copy, Clone, Debug, Default)]
pub struct RealDisk;

struct RealFile(File);

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        make_durable(self, &DURABLE, path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)?;
        DURABLE.lock().remove(path);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let metadata = match fs::metadata(entry.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // removed concurrently
                metadata => metadata?,
            };
            if metadata.is_file() {
                files.push((entry.path(), metadata.len()));
            }
        }
        files.sort();
        Ok(files)
    }

    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut dirs = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                dirs.push(entry.path());
            }
        }
        dirs.sort();
        Ok(dirs)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        File::open(dir)?.sync_all()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn lock(&self, path: &Path) -> io::Result<DiskLock> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(RealLock(file))),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Unlocks explicitly on drop. Closing the file is not enough: a forked child that has not called `exec` yet shares the
/// lock.
struct RealLock(File);

impl Drop for RealLock {
    fn drop(&mut self) {
        // On failure, closing the file releases the lock unless such a child exists.
        let _ = self.0.unlock();
    }
}

impl DiskFile for RealFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.0.read_at(&mut into[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }
}

/// The operations that [`make_durable`] needs.
trait Directories {
    fn is_dir(&self, path: &Path) -> bool;

    /// Creates one directory. Durable after `sync` of its parent.
    fn make_dir(&self, path: &Path) -> io::Result<()>;

    fn sync(&self, dir: &Path) -> io::Result<()>;
}

impl Directories for RealDisk {
    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn sync(&self, dir: &Path) -> io::Result<()> {
        self.sync_dir(dir)
    }
}

/// Directories of the real disk whose names this process has synced.
static DURABLE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Creates a directory and its missing ancestors, and syncs the name of each once per process. `durable` remembers the
/// synced ones.
fn make_durable(disk: &impl Directories, durable: &Mutex<BTreeSet<PathBuf>>, path: &Path) -> io::Result<()> {
    let parent = parent_of(path);
    let is_root = path.as_os_str().is_empty() || parent == path;
    if is_root || (durable.lock().contains(path) && disk.is_dir(path)) {
        return Ok(());
    }
    make_durable(disk, durable, parent)?;
    let is_made = match disk.make_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && disk.is_dir(path) => false,
        made => {
            made?;
            true
        }
    };
    match disk.sync(parent) {
        // Ancestors of the data directory may belong to another user and be unreadable.
        Err(error) if !is_made && is_refused(&error) => {}
        synced => synced?,
    }
    durable.lock().insert(path.to_path_buf());
    Ok(())
}

/// Whether the directory does not support syncing, as opposed to a disk failure.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported)
}

/// The directory that contains `path`; `.` for a bare name.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => path,
    }
}

#[cfg(test)]
mod tests;
