//! Takes a damaged part out of service, on an operator's request.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::gaps::gap_of;
use crate::catalog::{Catalog, Opened};
use crate::lost::Lost;
use crate::options::LakeOptions;
use tidewatch_store::StoreError;

/// Removes the part at `path` from the catalog, records the gap in the same transaction, and moves the file to `lost/`.
/// Returns its new path; `None` when the file was missing. Fails when the catalog does not list the part. No other
/// process may have the lake open.
///
/// `path` is the part's file, in the data directory of `options`.
pub fn set_part_aside(options: &LakeOptions, path: &Path, today: i32) -> Result<Option<PathBuf>, StoreError> {
    let disk = Arc::clone(&options.disk);
    let lock_path = options.dir.join("lake.lock");
    let _lock = disk.lock(&lock_path).map_err(|e| StoreError::io("lock", &lock_path, e))?;
    let Opened { mut catalog, parts, .. } = Catalog::open(&options.catalog, false)?;
    let facts = parts.into_iter().find(|facts| facts.path(&options.dir) == path);
    let unknown = || StoreError::io("find in the catalog", path, io::ErrorKind::NotFound.into());
    let facts = facts.ok_or_else(unknown)?;
    catalog.set_aside(&gap_of(&facts))?;
    if !disk.exists(path) {
        return Ok(None);
    }
    Lost::open(disk, &options.dir)?.set_aside(path, today).map(Some)
}
