//! What is specific to a folder.

use std::fs;
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
        Folder { root, opened: OnceLock::new() }
    }

    /// The stores; `None` when the folder does not exist and is not to be created.
    pub fn stores(&self, is_write: bool) -> io::Result<Option<Stores>> {
        if let Some(stores) = self.opened.get() {
            return Ok(Some(stores.clone()));
        }
        if is_write {
            fs::create_dir_all(&self.root)?;
        } else if !self.root.exists() {
            return Ok(None);
        }
        let open = || LocalFileSystem::new_with_prefix(&self.root).map_err(io_error);
        let stores = Stores { durable: Arc::new(open()?.with_fsync(true)), unsynced: Arc::new(open()?) };
        Ok(Some(self.opened.get_or_init(|| stores).clone()))
    }

    /// Removes a folder with everything in it, incomplete writes included.
    pub fn remove(&self, below: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join(below)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether a file in a folder of blobs is a write that did not complete: its name ends with `#` and digits.
pub fn is_pending(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}
