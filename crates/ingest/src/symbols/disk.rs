//! Atomic and durable writes of small files of state: into a temporary file that is synced and renamed, then the folder is synced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

pub(super) fn if_exists<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn remove_if_exists(path: &Path) -> io::Result<bool> {
    Ok(if_exists(fs::remove_file(path))?.is_some())
}

pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let pending = PendingFile::new(path)?;
    pending.write(bytes)?;
    pending.publish()
}

/// Creates a folder and those above it, durably.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    let mut above = folder;
    while !above.as_os_str().is_empty() && !above.exists() {
        missing.push(above);
        above = above.parent().unwrap_or(Path::new(""));
    }
    for folder in missing.into_iter().rev() {
        // Another thread may have created it.
        fs::create_dir_all(folder)?;
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
        File::open(above.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// A temporary file in the folder of its final path. It is deleted on drop unless it was published.
struct PendingFile<'a> {
    place: &'a Path,
    folder: &'a Path,
    path: PathBuf,
}

impl<'a> PendingFile<'a> {
    fn new(place: &'a Path) -> io::Result<PendingFile<'a>> {
        let folder = place.parent().ok_or_else(|| io::Error::other("a file is in a folder"))?;
        create_folder(folder)?;
        Ok(PendingFile { place, folder, path: folder.join(format!(".{}", Uuid::new_v4())) })
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn publish(self) -> io::Result<()> {
        fs::rename(&self.path, self.place)?;
        File::open(self.folder)?.sync_all()
    }
}

impl Drop for PendingFile<'_> {
    fn drop(&mut self) {
        // `rename` between two links of one file leaves both.
        let _ = fs::remove_file(&self.path);
    }
}
