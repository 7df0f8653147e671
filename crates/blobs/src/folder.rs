//! The parts of the storage that are specific to a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;

use crate::error::io_error;

/// A folder that the first write creates.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    opened: OnceLock<Stores>,
    /// Set when the name of the folder itself is durable.
    created: OnceLock<()>,
}

/// The stores of one folder.
#[derive(Debug, Clone)]
pub struct Stores {
    /// Syncs files and folders before a write returns.
    pub durable: Arc<dyn ObjectStore>,
    /// Leaves that to the system.
    pub unsynced: Arc<dyn ObjectStore>,
}

impl Folder {
    pub fn new(root: PathBuf) -> Folder {
        Folder { root, opened: OnceLock::new(), created: OnceLock::new() }
    }

    /// The stores; `None` when the folder does not exist and is not to be created.
    pub fn stores(&self, is_write: bool) -> io::Result<Option<Stores>> {
        if is_write {
            self.create()?;
        }
        if let Some(stores) = self.opened.get() {
            return Ok(Some(stores.clone()));
        }
        if !self.root.exists() {
            return Ok(None);
        }
        let open = || LocalFileSystem::new_with_prefix(&self.root).map_err(io_error);
        let stores = Stores { durable: Arc::new(open()?.with_fsync(true)), unsynced: Arc::new(open()?) };
        Ok(Some(self.opened.get_or_init(|| stores).clone()))
    }

    /// Creates the folder. `object_store` syncs what is below it, not its name in the folder above. Another part of the
    /// program, or a process that was killed, may have created it without a sync.
    fn create(&self) -> io::Result<()> {
        if self.created.get().is_some() {
            return Ok(());
        }
        fs::create_dir_all(&self.root)?;
        let above = self.root.parent().filter(|above| !above.as_os_str().is_empty());
        File::open(above.unwrap_or(Path::new(".")))?.sync_all()?;
        self.created.get_or_init(|| ());
        Ok(())
    }

    /// Removes the writes that a crash or a full disk left incomplete. Returns their number.
    pub fn remove_pending(&self) -> io::Result<u64> {
        let (mut removed, mut folders) = (0, vec![self.root.clone()]);
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let path = entry.path();
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if is_pending(&path) && !has_metadata(&path) {
                    fs::remove_file(&path)?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// Removes a folder with everything in it, incomplete writes included. It is durable when the call returns.
    pub fn remove(&self, below: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join(below)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_above(below),
        }
    }

    /// Makes the removal of a name durable. `object_store` syncs writes only. The folder of the name may be gone: then
    /// the next one above it that exists is synced.
    pub fn sync_above(&self, name: &str) -> io::Result<()> {
        let path = self.root.join(name);
        for above in path.ancestors().skip(1).take_while(|above| above.starts_with(&self.root)) {
            match File::open(above) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                folder => return folder?.sync_all(),
            }
        }
        Ok(())
    }
}

/// Whether another file describes this one: earlier releases stored files of any name, with their metadata beside them.
fn has_metadata(file: &Path) -> bool {
    let mut name = file.as_os_str().to_owned();
    name.push(".info");
    Path::new(&name).exists()
}

/// Whether a file in a folder of blobs is a write that did not complete: its name ends with `#` and digits.
pub fn is_pending(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}
