//! Files that are in place whole or not at all, and durable: written aside, synced, renamed, and the folder synced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

pub(super) fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<bool> {
    Ok(if_there(fs::remove_file(path))?.is_some())
}

pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = Beside::new(path)?;
    beside.write(bytes)?;
    beside.take_place()
}

/// A file on its way to its place; gone when it does not get there.
pub(super) struct Beside<'a> {
    place: &'a Path,
    folder: &'a Path,
    path: PathBuf,
}

impl<'a> Beside<'a> {
    pub(super) fn new(place: &'a Path) -> io::Result<Beside<'a>> {
        let folder = place.parent().ok_or_else(|| io::Error::other("a blob lies in a folder"))?;
        fs::create_dir_all(folder)?;
        Ok(Beside { place, folder, path: folder.join(format!(".{}", Uuid::new_v4())) })
    }

    /// The same file under another name; where that cannot be, a copy.
    pub(super) fn link(&self, source: &Path) -> io::Result<()> {
        if fs::hard_link(source, &self.path).is_err() {
            fs::copy(source, &self.path)?;
        }
        File::open(&self.path)?.sync_all()
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    pub(super) fn take_place(self) -> io::Result<()> {
        fs::rename(&self.path, self.place)?;
        File::open(self.folder)?.sync_all()
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        // Of the same file under two names `rename` leaves both.
        let _ = fs::remove_file(&self.path);
    }
}
