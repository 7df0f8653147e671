//! The segments on disk as the writer and `trim` share them: their extents, their sizes, and what is durable.

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
    /// Trimmed files whose blocks the next segments use again; their names are durable.
    spares: Mutex<Vec<Spare>>,
    bytes: AtomicU64,
    durable: AtomicU64,
    /// Files with records up to here are not used again.
    renewed: AtomicU64,
    /// While there are any, nothing is trimmed.
    holds: AtomicUsize,
}

/// While it lives no segment is removed, renamed or used again.
pub struct Hold(Arc<Segments>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holds.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A segment as far as it is durable: these bytes change no more while a [`Hold`] lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableSegment {
    pub path: PathBuf,
    /// From the start of the file.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub path: PathBuf,
    /// End of its durable records; `None` while it is written.
    pub end: Option<Position>,
    /// Size of the file.
    pub bytes: u64,
}

/// A file that is no segment any more.
pub(crate) struct Spare {
    pub path: PathBuf,
    pub bytes: u64,
}

/// As many as one flush sets free, as a rule.
const SPARES_MAX: usize = 2;
const SPARE_SUFFIX: &str = ".spare";

/// Whether the file is one that was kept to be used again. Removed on opening.
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
            renewed: AtomicU64::new(0),
            holds: AtomicUsize::new(0),
        }
    }

    pub fn hold(self: &Arc<Self>) -> Hold {
        // Under the lock that `trim` takes: none is under way.
        let _list = self.list.lock();
        self.holds.fetch_add(1, Ordering::Relaxed);
        Hold(Arc::clone(self))
    }

    /// Every segment, oldest first, up to where it is durable now.
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

    /// Size of all segment files together, without those that wait to be used again.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Every record up to here is on the disk. Always a record boundary.
    pub fn durable(&self) -> Position {
        Position(self.durable.load(Ordering::Acquire))
    }

    pub fn set_durable(&self, durable: Position) {
        self.durable.store(durable.0, Ordering::Release);
    }

    /// A segment that replaced any former one of the same name.
    pub fn push(&self, segment: Segment) {
        let mut list = self.list.lock();
        list.retain(|other| other.path != segment.path);
        list.push(segment);
        self.count(&list);
    }

    /// Changes the last segment.
    pub fn change_last(&self, change: impl FnOnce(&mut Segment)) {
        let mut list = self.list.lock();
        list.last_mut().map(change);
        self.count(&list);
    }

    /// Ends the last segment, which holds no durable record, and removes it unless it is the only one: some file must
    /// carry the positions on. If it comes back after a power cut, the next header says that it is dead.
    pub fn drop_last(&self) {
        let mut list = self.list.lock();
        let has_others = list.len() > 1;
        if let Some(last) = list.last_mut() {
            last.end = Some(self.durable());
            if has_others && self.disk.remove(&last.path).is_ok() {
                list.pop();
            }
        }
        self.count(&list);
    }

    /// Removes the segments whose records all lie at or before `covered`, oldest first, but never the last one: it
    /// carries the positions on. Returns how many went. After an error the rest stays for the next time.
    ///
    /// Some files of at least `spare_bytes` are kept under another name, to be used again.
    pub fn trim(&self, covered: Position, spare_bytes: u64) -> io::Result<usize> {
        let mut list = self.list.lock();
        if self.holds.load(Ordering::Relaxed) > 0 {
            return Ok(0);
        }
        let sealed = &list[..list.len().saturating_sub(1)];
        let covered_count = sealed.iter().take_while(|segment| segment.end.is_some_and(|end| end <= covered)).count();
        let (mut removed, mut kept) = (0, Vec::new());
        let mut outcome = Ok(());
        let room = SPARES_MAX.saturating_sub(self.spares.lock().len());
        let renewed = Position(self.renewed.load(Ordering::Relaxed));
        for segment in &list[..covered_count] {
            let is_new = segment.end.is_some_and(|end| end > renewed);
            if is_new && segment.bytes >= spare_bytes && kept.len() < room {
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
        self.count(&list);
        let synced = if removed > 0 { self.disk.sync_dir(&self.dir) } else { Ok(()) };
        // Only now may they be written to: until their new names were durable, the old ones could have come back.
        self.spares.lock().extend(kept);
        if synced.is_err() {
            self.drop_spares();
        }
        synced.and(outcome).map(|()| removed)
    }

    /// No file that holds anything so far is used again.
    pub fn renew(&self) {
        self.renewed.store(self.durable().0, Ordering::Relaxed);
        self.drop_spares();
    }

    /// A file to use again. It is no spare any more.
    pub fn take_spare(&self) -> Option<Spare> {
        self.spares.lock().pop()
    }

    /// Gives the space of the spares back.
    pub fn drop_spares(&self) {
        for spare in self.spares.lock().drain(..) {
            // What stays is removed on opening.
            let _ = self.disk.remove(&spare.path);
        }
    }

    fn count(&self, list: &[Segment]) {
        self.bytes.store(list.iter().map(|segment| segment.bytes).sum(), Ordering::Relaxed);
    }
}
