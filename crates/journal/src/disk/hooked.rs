//! A disk that calls a hook before each operation. The hook may fail, panic or block.

use super::{Disk, DiskFile, DiskLock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An operation on the disk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`Disk::create`].
    Create,
    /// [`Disk::open`].
    Open,
    /// [`DiskFile::read_at`].
    Read,
    /// [`DiskFile::write_at`].
    Write,
    /// [`DiskFile::sync_data`].
    Sync,
    /// [`Disk::rename`].
    Rename,
    /// [`Disk::remove`].
    Remove,
}

/// Called with the path of the file; for a rename, with the new path.
pub type Hook = Arc<dyn Fn(Operation, &Path) -> io::Result<()> + Send + Sync>;

/// A disk with a hook in front of it.
#[derive(Clone)]
pub struct HookedDisk {
    inner: Arc<dyn Disk>,
    hook: Hook,
}

struct HookedFile {
    inner: Box<dyn DiskFile>,
    path: PathBuf,
    hook: Hook,
}

impl HookedDisk {
    /// Calls `hook` before each operation on `inner`. An error of the hook is the result of the operation.
    pub fn new(
        inner: Arc<dyn Disk>,
        hook: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> HookedDisk {
        HookedDisk { inner, hook: Arc::new(hook) }
    }

    fn file(&self, path: &Path, inner: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(HookedFile { inner, path: path.to_path_buf(), hook: Arc::clone(&self.hook) })
    }
}

impl Disk for HookedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.hook)(Operation::Create, path)?;
        Ok(self.file(path, self.inner.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.hook)(Operation::Open, path)?;
        Ok(self.file(path, self.inner.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.hook)(Operation::Rename, to)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.hook)(Operation::Remove, path)?;
        self.inner.remove(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir_all(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
        self.inner.list(dir)
    }

    fn list_dirs(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list_dirs(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn lock(&self, path: &Path) -> io::Result<DiskLock> {
        self.inner.lock(path)
    }
}

impl DiskFile for HookedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (self.hook)(Operation::Write, &self.path)?;
        self.inner.write_at(bytes, offset)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        (self.hook)(Operation::Read, &self.path)?;
        self.inner.read_at(into, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        (self.hook)(Operation::Sync, &self.path)?;
        self.inner.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.inner.set_len(bytes)
    }
}
