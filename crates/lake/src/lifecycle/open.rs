//! Opens a lake. The catalog lists the files that exist. Every other file in the lake's folders is removed when it is
//! provably the lake's own and not needed, and set aside otherwise.
//!
//! | file | action |
//! |---|---|
//! | `*.tmp` of a listed part or key file | renamed to its final name: a crash happened between COMMIT and rename |
//! | any other `*.tmp` | removed: it was never registered |
//! | an id that the catalog notes as removed | removed: a crash happened between COMMIT and unlink |
//! | anything else that is not listed | moved to `lost/`, with a WARN line |
//! | listed, but missing or of another length | stays listed, with an ERROR line; queries that need it fail |

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};
use tidewatch_journal::disk::Disk;

use crate::catalog::{self, Catalog};
use crate::dedup::DedupSet;
use crate::dedup::file::DedupFile;
use crate::ingest::calls::Calls;
use crate::ingest::names::Names;
use crate::ingest::usage::Usage;
use crate::lifecycle::state::{Shared, State};
use crate::lifecycle::trusted_time::TIME_NOTE;
use crate::lost::Lost;
use crate::memtable::buffer_pool::BufferPool;
use crate::options::LakeOptions;
use crate::part::Part;
use crate::write::flush::Layout;
use tidewatch_store::StoreError;
use tidewatch_store::days::day_of;
use tidewatch_store::query_memory::QueryMemory;

pub fn open(options: LakeOptions) -> Result<Shared, StoreError> {
    let (disk, dir) = (Arc::clone(&options.disk), options.dir.clone());
    disk.create_dir_all(&dir).map_err(|e| StoreError::io("create", &dir, e))?;
    let lock_path = dir.join("lake.lock");
    let lock = disk.lock(&lock_path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::Refused(format!("another process uses {}", dir.display())),
        _ => StoreError::io("lock", &lock_path, error),
    })?;

    let lost = Lost::open(Arc::clone(&disk), &dir)?;
    let may_be_new = files(&*disk, &dir)?.is_empty();
    let opened = open_catalog(&options, may_be_new)?;
    let catalog::Opened { mut catalog, parts, dedup: keys, removed } = opened;
    let layout = Layout::new(&options, catalog.ids());
    let noted_time = catalog.noted(TIME_NOTE)?;
    let received = parts.iter().map(|part| part.received_max).chain(keys.iter().map(|keys| keys.received_max));
    // `i64::MAX` stands for an unknown time.
    let newest_received = received.filter(|received| *received != i64::MAX).max();
    if let Some(newest) = newest_received {
        lost.not_before(day_of(newest));
    }

    let parts: Vec<Part> = parts.into_iter().map(|facts| layout.part(facts)).collect();
    let mut expected: HashMap<PathBuf, Option<u64>> =
        parts.iter().map(|part| (part.path().to_path_buf(), Some(part.facts.bytes))).collect();
    expected.extend(keys.iter().map(|facts| (DedupFile::path(&layout.dedup_folder(), facts.id), None)));
    for path in expected.keys() {
        if layout.publish_listed(path)? {
            tracing::info!(path = %path.display(), "a registered file gets its name");
        }
    }
    // The age of files in `lost/` counts from the day they were moved there.
    let now_ns = options.clock.as_ref().map_or(newest_received.unwrap_or(0), |clock| clock.now_ns());
    let today = day_of(now_ns);
    let highest = remove_unlisted(&*disk, &layout, &mut expected, &removed, (&lost, today))?;
    catalog.ids().fetch_max(highest.saturating_add(1), Ordering::Relaxed);
    let missing = expected.len();
    for path in expected.keys() {
        // Queries that need the file fail with an error; all others are answered.
        tracing::error!(path = %path.display(), "a registered file is missing or has another length");
    }
    // A full disk is no reason to refuse the start: the next change includes this one.
    if let Err(failed) = catalog.forget_deleted(&Vec::from_iter(removed)) {
        tracing::warn!(error = %failed.error, "cannot note in the catalog what was removed");
    }

    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for facts in keys {
        match DedupFile::open(&disk, &layout.dedup_folder(), facts) {
            Ok(file) => files.push(file),
            Err(error) => {
                tracing::error!(%error, "cannot read received keys: retries of that time may be stored twice");
                unreadable.push(facts);
            }
        }
    }

    // One third of the rows is sealed at a time, and buffers have up to half of the rows' size as spare capacity.
    let buffer_pool = Arc::new(BufferPool::within(options.row_bytes_max(0) / 2));
    let mut dedup = DedupSet::new(files);
    unreadable.into_iter().for_each(|facts| dedup.add_unreadable(facts));
    let mut state = State::new(catalog.covered(), parts, &buffer_pool);
    state.gaps = catalog.gaps()?;
    state.project_retention = Arc::new(options.project_retention.clone());
    let highest_project = catalog.highest_project();
    state.newest_received = newest_received;
    Ok(Shared {
        layout,
        catalog: Mutex::new(catalog),
        flushing: Mutex::default(),
        in_doubt: Mutex::default(),
        maintenance: Mutex::new(()),
        dedup: Mutex::new(dedup),
        names: Mutex::new(Names::new(options.names_max)),
        calls: Mutex::new(Calls::new(options.calls_max)),
        usage: Mutex::new(Usage::new(options.usage_spans_max)),
        settling: Mutex::new(()),
        stacks: Mutex::default(),
        query_memory: Arc::new(QueryMemory::new(options.query_bytes_max)),
        state: Mutex::new(state),
        wake: Condvar::new(),
        on_covered: Mutex::new(None),
        on_work_completed: OnceLock::new(),
        time: Mutex::new(None),
        latest_trusted: AtomicI64::new(noted_time.max(newest_received).unwrap_or(i64::MIN)),
        noted_time: Mutex::new(noted_time),
        is_budget_short: AtomicBool::new(false),
        buffer_pool,
        lost,
        flush_failure: Mutex::default(),
        set_aside: AtomicU64::new(0),
        missing_files: missing,
        highest_project: AtomicU32::new(highest_project),
        options,
        _lock: lock,
    })
}

#[cfg(not(test))]
fn open_catalog(options: &LakeOptions, may_be_new: bool) -> Result<catalog::Opened, StoreError> {
    Catalog::open(&options.catalog, may_be_new)
}

#[cfg(test)]
fn open_catalog(options: &LakeOptions, may_be_new: bool) -> Result<catalog::Opened, StoreError> {
    Catalog::open_probed(&options.catalog, may_be_new, options.catalog_probe.clone())
}

/// Every part and key file with its length, complete or not, listed or not.
pub(crate) fn files(disk: &dyn Disk, dir: &Path) -> Result<Vec<(PathBuf, u64)>, StoreError> {
    let mut files = Vec::new();
    for folder in folders(disk, dir)? {
        files.extend(list(disk, &folder)?);
    }
    Ok(files)
}

fn folders(disk: &dyn Disk, dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut folders = vec![dir.join("seen")];
    for table in list_dirs(disk, &dir.join("parts"))? {
        folders.extend(list_dirs(disk, &table)?);
    }
    Ok(folders)
}

/// Removes or sets aside every file in the lake's folders that is not expected, and removes intact files from
/// `expected`. Returns the highest id of any file; 0: there is none.
fn remove_unlisted(
    disk: &dyn Disk,
    layout: &Layout,
    expected: &mut HashMap<PathBuf, Option<u64>>,
    removed: &BTreeSet<u64>,
    (lost, today): (&Lost, i32),
) -> Result<u64, StoreError> {
    let mut highest = 0;
    for folder in folders(disk, &layout.dir)? {
        let files = list(disk, &folder)?;
        let (count, mut left) = (files.len(), files.len());
        for (path, bytes) in files {
            let id = id_of(&path);
            highest = highest.max(id.unwrap_or(0));
            match expected.get(&path) {
                Some(Some(known)) if *known != bytes => continue,
                Some(_) => {
                    expected.remove(&path);
                    continue;
                }
                None => {}
            }
            let is_temporary = path.extension().is_some_and(|extension| extension == "tmp");
            if is_temporary || id.is_some_and(|id| removed.contains(&id)) {
                tracing::info!(path = %path.display(), "removing a file that a crash left behind");
                disk.remove(&path).map_err(|e| StoreError::io("remove", &path, e))?;
            } else {
                let to = lost.set_aside(&path, today)?;
                let (path, to) = (path.display(), to.display());
                tracing::warn!(
                    "the catalog does not list {path}, and nothing says that it may be removed: it is {to} now"
                );
            }
            left -= 1;
        }
        if left < count {
            // The removals must be durable before the catalog forgets them.
            disk.sync_dir(&folder).map_err(|e| StoreError::io("sync", &folder, e))?;
        }
        if left == 0 && folder != layout.dedup_folder() {
            // The folder of a removed day. A failure is ignored.
            let _ = disk.remove_dir(&folder);
        }
    }
    Ok(highest)
}

/// The id of a part or key file, whatever its extension.
pub(crate) fn id_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.split('.').next()?.parse().ok()
}

fn list(disk: &dyn Disk, folder: &Path) -> Result<Vec<(PathBuf, u64)>, StoreError> {
    match disk.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        files => files.map_err(|e| StoreError::io("list", folder, e)),
    }
}

fn list_dirs(disk: &dyn Disk, path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    match disk.list_dirs(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        dirs => dirs.map_err(|e| StoreError::io("list", path, e)),
    }
}
