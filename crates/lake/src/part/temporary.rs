//! Names of files that no transaction has registered.

use std::path::{Path, PathBuf};

/// The path of a part or key file until the catalog lists it.
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}
