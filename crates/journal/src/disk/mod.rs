//! The seam to the file system: positioned reads and writes, and an explicit sync for data and for directories.
//!
//! Everything that must survive a power cut goes through `Disk`, so that one simulated disk (`sim`) can lose,
//! tear and reorder whatever was not synced. The rules of the seam are those of POSIX at its strictest:
//! bytes are durable after `sync_data`, names (new, renamed, removed) after `sync_dir` of their directory,
//! and after a failed sync nothing is known about the bytes written since the last good one.

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

/// Held as long as the lock is; dropping it releases the lock.
pub type DiskLock = Box<dyn Any + Send + Sync>;

/// A file system as far as durable storage needs one.
pub trait Disk: Send + Sync + 'static {
    /// A new empty file, readable and writable; an existing one is truncated. The name is durable after `sync_dir`.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// An existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Atomic; replaces `to` when it exists. Durable after `sync_dir` of the directories of both.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. Those who have it open keep reading it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory and its missing ancestors. All of them are durable when this returns, also those that were there:
    /// a process may have died between making one and syncing its name.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory. Durable after `sync_dir` of its parent.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// The files directly in `dir`, and links to files, with their length in bytes, by path. `NotFound` when there is no such directory.
    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>>;

    /// The directories directly in `dir`, by path.
    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes the names in `dir` durable: files created, renamed or removed.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    fn exists(&self, path: &Path) -> bool;

    /// An exclusive advisory lock on the file at `path`, made when missing. `WouldBlock` when someone else holds it.
    fn lock(&self, path: &Path) -> io::Result<DiskLock>;
}

/// An open file. There is no cursor: handles may be shared between threads.
#[expect(clippy::len_without_is_empty, reason = "the length of a file, not of a collection")]
pub trait DiskFile: Send + Sync {
    /// Writes all of `bytes` at `offset`, growing the file when needed. After an error any part may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads up to `into.len()` bytes at `offset`; fewer only at the end of the file. Shape of the result: `0..=into.len()`.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Makes the bytes and the length durable (`fdatasync`).
    ///
    /// After an error the bytes written since the last good sync may or may not be on the disk, and a later sync
    /// that succeeds says nothing about them: write them again, elsewhere.
    fn sync_data(&self) -> io::Result<()>;

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Cuts the file, or grows it with zeros that may still have no space on the disk.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Fills `into` from `offset`; `UnexpectedEof` when the file is shorter.
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
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // removed meanwhile
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

/// Unlocks when it is dropped. To close the file alone is not enough: a child process that was forked and has not called
/// `exec` yet holds the same lock.
struct RealLock(File);

impl Drop for RealLock {
    fn drop(&mut self) {
        // Closing the file comes next, and unlocks it too unless there is such a child.
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

/// What [`Disk::create_dir_all`] needs of a disk.
trait Directories {
    fn is_dir(&self, path: &Path) -> bool;

    /// Makes one directory; durable after `sync` of its parent.
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

/// Directories of the real disk whose names this process knows to be durable.
static DURABLE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Makes a directory and its missing ancestors, and syncs the name of each once per process. `durable`: those that this
/// process has synced.
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
        // Directories above the data directory are another's, and may not be readable.
        Err(error) if !is_made && is_refused(&error) => {}
        synced => synced?,
    }
    durable.lock().insert(path.to_path_buf());
    Ok(())
}

/// The directory cannot be synced at all, which is no failure of the disk.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported)
}

/// The directory that holds the name of `path`; `.` for a bare name.
pub fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => path,
    }
}

#[cfg(test)]
mod tests;
