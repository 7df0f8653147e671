//! A disk that calls a hook before each use, which may fail it, panic or wait.

use super::{Disk, DiskFile, DiskLock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is about to be done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Use {
    Create,
    Open,
    Read,
    Write,
    Sync,
    Rename,
    Remove,
}

/// Gets the file that is used; of a rename, the new name.
pub type Hook = Arc<dyn Fn(Use, &Path) -> io::Result<()> + Send + Sync>;

/// Another disk behind a hook.
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
    pub fn new(
        inner: Arc<dyn Disk>,
        hook: impl Fn(Use, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> HookedDisk {
        HookedDisk { inner, hook: Arc::new(hook) }
    }

    fn file(&self, path: &Path, inner: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(HookedFile { inner, path: path.to_path_buf(), hook: Arc::clone(&self.hook) })
    }
}

impl Disk for HookedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.hook)(Use::Create, path)?;
        Ok(self.file(path, self.inner.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        (self.hook)(Use::Open, path)?;
        Ok(self.file(path, self.inner.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.hook)(Use::Rename, to)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        (self.hook)(Use::Remove, path)?;
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
        (self.hook)(Use::Write, &self.path)?;
        self.inner.write_at(bytes, offset)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        (self.hook)(Use::Read, &self.path)?;
        self.inner.read_at(into, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        (self.hook)(Use::Sync, &self.path)?;
        self.inner.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.inner.set_len(bytes)
    }
}
