//! The list of segment files, shared by the writer and `trim`: their extents, their sizes and the durable position.

use crate::Position;
use crate::disk::Disk;
use crate::segment::{HEADER_BYTES, base_of};
use parking_lot::Mutex;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub(crate) struct Segments {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    list: Mutex<Vec<Segment>>,
    /// Trimmed files to recycle. Their `.spare` names are durable.
    spares: Mutex<Vec<Spare>>,
    bytes: AtomicU64,
    durable: AtomicU64,
    /// Files with records at or before this position are not recycled.
    recycle_after: AtomicU64,
    /// Number of live [`TrimGuard`]s.
    trim_guards: AtomicUsize,
}

/// Prevents segments from being removed, renamed or recycled until it is dropped.
pub struct TrimGuard(Arc<Segments>);

impl Drop for TrimGuard {
    fn drop(&mut self) {
        self.0.trim_guards.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The durable prefix of a segment file. Its bytes do not change while a [`TrimGuard`] lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableSegment {
    /// The segment file.
    pub path: PathBuf,
    /// Length of the prefix from the start of the file.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub path: PathBuf,
    /// End of the durable records; `None` for the active segment.
    pub end: Option<Position>,
    /// File size.
    pub bytes: u64,
}

/// The file of a trimmed segment, kept to be recycled.
pub(crate) struct Spare {
    pub path: PathBuf,
    pub bytes: u64,
}

/// One flush usually frees this many segments.
const SPARES_MAX: usize = 2;
const SPARE_SUFFIX: &str = ".spare";

/// Whether the file is a [`Spare`]. Spares are removed when the journal is opened.
pub(crate) fn is_spare(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.ends_with(SPARE_SUFFIX))
}

impl Segments {
    pub fn new(dir: PathBuf, disk: Arc<dyn Disk>, list: Vec<Segment>, durable: Position) -> Segments {
        let bytes = list.iter().map(|segment| segment.bytes).sum();
        Segments {
            dir,
            disk,
            list: Mutex::new(list),
            spares: Mutex::default(),
            bytes: AtomicU64::new(bytes),
            durable: AtomicU64::new(durable.0),
            recycle_after: AtomicU64::new(0),
            trim_guards: AtomicUsize::new(0),
        }
    }

    pub fn pause_trim(self: &Arc<Self>) -> TrimGuard {
        // `trim` holds this lock while it runs.
        let _list = self.list.lock();
        self.trim_guards.fetch_add(1, Ordering::Relaxed);
        TrimGuard(Arc::clone(self))
    }

    /// The durable prefix of every segment, oldest first.
    pub fn durable_segments(&self) -> Vec<DurableSegment> {
        let list = self.list.lock();
        let durable = self.durable();
        let durable_of = |segment: &Segment| {
            let base = base_of(&segment.path)?;
            let end = segment.end.unwrap_or(durable);
            let bytes = HEADER_BYTES + end.0.saturating_sub(base.0);
            Some(DurableSegment { path: segment.path.clone(), bytes })
        };
        list.iter().filter_map(durable_of).collect()
    }

    /// Size of all segment files, without spares.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The durable position: every record up to it is on the disk. Always a record boundary.
    pub fn durable(&self) -> Position {
        Position(self.durable.load(Ordering::Acquire))
    }

    pub fn set_durable(&self, durable: Position) {
        self.durable.store(durable.0, Ordering::Release);
    }

    /// Appends a segment, in place of any other with the same name.
    pub fn push(&self, segment: Segment) {
        let mut list = self.list.lock();
        list.retain(|other| other.path != segment.path);
        list.push(segment);
        self.update_bytes(&list);
    }

    /// Changes the last segment.
    pub fn change_last(&self, change: impl FnOnce(&mut Segment)) {
        let mut list = self.list.lock();
        list.last_mut().map(change);
        self.update_bytes(&list);
    }

    /// Ends the last segment, which holds no durable record, and removes it unless it is the only one: one file must
    /// preserve the next position. If it reappears after a power cut, the next segment's header marks it as dead.
    pub fn drop_last(&self) {
        let mut list = self.list.lock();
        let has_others = list.len() > 1;
        if let Some(last) = list.last_mut() {
            last.end = Some(self.durable());
            if has_others && self.disk.remove(&last.path).is_ok() {
                list.pop();
            }
        }
        self.update_bytes(&list);
    }

    /// Removes the segments that hold only records at or before `covered`, oldest first. The last segment stays: it
    /// preserves the next position. Returns the number of removed segments. After an error the next call continues.
    ///
    /// Up to `SPARES_MAX` files of at least `spare_bytes_min` bytes become spares.
    pub fn trim(&self, covered: Position, spare_bytes_min: u64) -> io::Result<usize> {
        let mut list = self.list.lock();
        if self.trim_guards.load(Ordering::Relaxed) > 0 {
            return Ok(0);
        }
        let sealed = &list[..list.len().saturating_sub(1)];
        let covered_count = sealed.iter().take_while(|segment| segment.end.is_some_and(|end| end <= covered)).count();
        let (mut removed, mut kept) = (0, Vec::new());
        let mut outcome = Ok(());
        let room = SPARES_MAX.saturating_sub(self.spares.lock().len());
        let recycle_after = Position(self.recycle_after.load(Ordering::Relaxed));
        for segment in &list[..covered_count] {
            let may_recycle = segment.end.is_some_and(|end| end > recycle_after);
            if may_recycle && segment.bytes >= spare_bytes_min && kept.len() < room {
                let spare = Spare { path: segment.path.with_extension(&SPARE_SUFFIX[1..]), bytes: segment.bytes };
                if self.disk.rename(&segment.path, &spare.path).is_ok() {
                    kept.push(spare);
                    removed += 1;
                    continue;
                }
            }
            match self.disk.remove(&segment.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    outcome = Err(error);
                    break;
                }
                _ => removed += 1,
            }
        }
        list.drain(..removed);
        self.update_bytes(&list);
        let synced = if removed > 0 { self.disk.sync_dir(&self.dir) } else { Ok(()) };
        // Spares may be overwritten only now: before the sync, a power cut could restore their old names.
        self.spares.lock().extend(kept);
        if synced.is_err() {
            self.drop_spares();
        }
        synced.and(outcome).map(|()| removed)
    }

    /// Excludes every file with records written so far from recycling.
    pub fn stop_recycling(&self) {
        self.recycle_after.store(self.durable().0, Ordering::Relaxed);
        self.drop_spares();
    }

    /// Takes a file to recycle.
    pub fn take_spare(&self) -> Option<Spare> {
        self.spares.lock().pop()
    }

    /// Removes the spares, to free their disk space.
    pub fn drop_spares(&self) {
        for spare in self.spares.lock().drain(..) {
            // Opening the journal removes those that remain.
            let _ = self.disk.remove(&spare.path);
        }
    }

    fn update_bytes(&self, list: &[Segment]) {
        self.bytes.store(list.iter().map(|segment| segment.bytes).sum(), Ordering::Relaxed);
    }
}
