//! Starting: the catalog says what exists; every other file in our folders is an orphan of a crash and goes.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};
use tidewatch_journal::disk::Disk;

use super::catalog::Catalog;
use super::flush::Layout;
use super::lost::Lost;
use super::names::Names;
use super::options::LakeOptions;
use super::part::Part;
use super::scan::QueryMemory;
use super::seen::Seen;
use super::seen::file::SeenFile;
use super::spare_chunks::SpareChunks;
use super::state::{Shared, State};
use super::trusted_time::TIME_NOTE;
use crate::StoreError;

pub fn open(options: LakeOptions) -> Result<Shared, StoreError> {
    let (disk, dir) = (Arc::clone(&options.disk), options.dir.clone());
    disk.create_dir_all(&dir).map_err(|e| StoreError::io("create", &dir, e))?;
    let lock_path = dir.join("lake.lock");
    let lock = disk.lock(&lock_path).map_err(|e| StoreError::io("lock", &lock_path, e))?;

    let lost = Lost::open(Arc::clone(&disk), &dir)?;
    let catalog = Catalog::open(&options.catalog)?;
    let (parts, keys, covered) = (catalog.parts()?, catalog.seen()?, catalog.covered()?);
    let noted_time = catalog.noted(TIME_NOTE)?;
    let received = parts.iter().map(|part| part.received_max).chain(keys.iter().map(|keys| keys.received_max));
    // `i64::MAX`: it is not known.
    let newest_received = received.filter(|received| *received != i64::MAX).max();
    let last_id = parts.iter().map(|part| part.id).chain(keys.iter().map(|keys| keys.id)).max();
    let layout = Layout::new(&options, last_id.unwrap_or(0) + 1);

    let parts: Vec<Part> = parts.into_iter().map(|facts| layout.part(facts)).collect();
    let mut expected: HashMap<PathBuf, Option<u64>> =
        parts.iter().map(|part| (part.path().to_path_buf(), Some(part.facts.bytes))).collect();
    expected.extend(keys.iter().map(|facts| (SeenFile::path(&layout.seen_folder(), facts.id), None)));
    remove_orphans(&*disk, &layout, &mut expected)?;
    for path in expected.keys() {
        // Questions that need the file will fail and say so; all others are answered.
        tracing::error!(path = %path.display(), "a registered file is missing or has another length");
    }

    let mut files = Vec::new();
    for facts in keys {
        match SeenFile::open(&disk, &layout.seen_folder(), facts) {
            Ok(file) => files.push(file),
            Err(error) => {
                tracing::error!(%error, "cannot read received keys: retries of that time may be stored twice")
            }
        }
    }

    // A third is sealed at a time, and has room for half as many rows again.
    let spare = Arc::new(SpareChunks::within(options.row_bytes_max(0) / 2));
    let mut state = State::new(covered, parts, &spare);
    state.gaps = catalog.gaps()?;
    state.keeping = Arc::new(options.keeping.clone());
    state.newest_received = newest_received;
    Ok(Shared {
        layout,
        catalog: Mutex::new(catalog),
        flushing: Mutex::new(()),
        upkeep: Mutex::new(()),
        seen: Mutex::new(Seen::new(files)),
        names: Mutex::new(Names::new(options.names_max)),
        query_memory: QueryMemory::new(options.query_bytes_max),
        state: Mutex::new(state),
        wake: Condvar::new(),
        on_covered: Mutex::new(None),
        on_worked: OnceLock::new(),
        time: Mutex::new(None),
        latest_trusted: AtomicI64::new(noted_time.max(newest_received).unwrap_or(i64::MIN)),
        noted_time: Mutex::new(noted_time),
        is_budget_short: AtomicBool::new(false),
        spare,
        lost,
        flush_failure: Mutex::default(),
        set_aside: AtomicU64::new(0),
        options,
        _lock: lock,
    })
}

/// Removes every file under our folders that is not expected; takes out of `expected` what is there as it should be.
fn remove_orphans(
    disk: &dyn Disk,
    layout: &Layout,
    expected: &mut HashMap<PathBuf, Option<u64>>,
) -> Result<(), StoreError> {
    let mut folders = vec![layout.seen_folder()];
    for table in list_dirs(disk, &layout.parts_folder())? {
        folders.extend(list_dirs(disk, &table)?);
    }
    for folder in folders {
        let files = match disk.list(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            files => files.map_err(|e| StoreError::io("list", &folder, e))?,
        };
        let mut left = files.len();
        for (path, bytes) in files {
            match expected.get(&path) {
                Some(Some(known)) if *known != bytes => {}
                Some(_) => drop(expected.remove(&path)),
                None => {
                    tracing::info!(path = %path.display(), "removing a file that a crash left behind");
                    disk.remove(&path).map_err(|e| StoreError::io("remove", &path, e))?;
                    left -= 1;
                }
            }
        }
        if left == 0 && folder != layout.seen_folder() {
            // Days that are gone; not worth an error.
            let _ = disk.remove_dir(&folder);
        }
    }
    Ok(())
}

fn list_dirs(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    match disk.list_dirs(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        dirs => dirs.map_err(|e| StoreError::io("list", path, e)),
    }
}
