//! One immutable Parquet part: its catalog entry, and how it is read.
//!
//! A part's file is opened for each read: for a part that is not read only its catalog entry is in memory. Reads are
//! checksummed and positioned ([`PartFile`] has no shared offset: `File::try_clone` would share one between threads). A
//! part that the catalog no longer lists is unlinked when its last reader drops it.

pub(crate) mod added_columns;
pub(crate) mod checksums;
mod file;
pub(crate) mod footers;
pub(crate) mod pages;
pub(crate) mod removal;
pub(crate) mod temporary;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::PageIndexPolicy;

use super::attr_columns::AttrColumns;
use crate::index::trace_id::{Blocks, TraceIdIndex};
use crate::index::trigram;
use crate::index::trigram::{TRIGRAMS, Trigrams};
use crate::part::checksums::{BlockSums, CHECKSUMS};
pub use crate::part::file::PartFile;
use crate::part::file::Tail;
use crate::part::footers::{Footer, Footers, Rollup};
use crate::part::removal::Removal;
use crate::part::temporary::temporary;
use crate::rollup::directory::{Directory, Place, ROLLUP};
use parquet::file::reader::ChunkReader;
use tidewatch_journal::disk::{Disk, DiskFile};
use tidewatch_store::StoreError;
use tidewatch_store::days;
use tidewatch_store::days::latest_day;
use tidewatch_store::rollup::spec::Spec;
use tidewatch_store::tables::Table;

/// The catalog entry of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFacts {
    /// Unique in the data directory; never reused.
    pub id: u64,
    /// Age: the lowest id among the flushed parts that were merged into this one.
    pub first_id: u64,
    /// The table of its rows.
    pub table: Table,
    /// UTC day, days since 1970-01-01; the folder and the unit of retention.
    pub day: i32,
    /// Number of rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// Smallest `time` of a row, nanoseconds since the epoch.
    pub time_min: i64,
    /// Greatest `time` of a row, inclusive, nanoseconds since the epoch.
    pub time_max: i64,
    /// Smallest project number of a row.
    pub project_min: u32,
    /// Greatest project number of a row, inclusive.
    pub project_max: u32,
    /// Number of merges: 0 for a flushed part.
    pub level: u8,
    /// Checksum of the end of the file after the checksummed blocks (see `checksums`); 0 when there is none.
    pub tail_sum: u64,
    /// Earliest receipt of a row, nanoseconds since the epoch; `i64::MIN` when not known.
    pub received_min: i64,
    /// Latest receipt of a row, inclusive, nanoseconds since the epoch; `i64::MAX` when not known.
    pub received_max: i64,
    /// Directory of its trace id index, a copy of the file's metadata entry (see `trace_id`), so that a look-up does
    /// not read the footer. `None` when it has no such index.
    pub ids: Option<Arc<str>>,
}

impl PartFacts {
    /// `parts/<table>/<day>/<id>.parquet` in the data directory `dir`.
    pub fn path(&self, dir: &Path) -> PathBuf {
        let folder = dir.join("parts").join(self.table.name()).join(days::day_name(self.day));
        folder.join(format!("{:012}.parquet", self.id))
    }

    /// The day from which retention is counted, days since 1970-01-01. Earlier releases stored rows under days in the
    /// far future; for these it is the day after their receipt (`days::latest_day`).
    pub fn retention_day(&self, today: i32) -> i32 {
        let received = (self.received_max != i64::MAX).then_some(self.received_max);
        if self.day > today.saturating_add(1) { self.day.min(latest_day(received)) } else { self.day }
    }
}

/// Approximate bytes of a roll-up per row, and the bytes of it that are prefetched at most.
const ROLLUP_ROW_BYTES: u64 = 16;
const ROLLUP_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A part of the catalog. Its file is unlinked when it is dropped after [`Part::unlink_on_drop`].
pub struct Part {
    /// Its catalog entry.
    pub facts: PartFacts,
    path: PathBuf,
    disk: Arc<dyn Disk>,
    footers: Arc<Footers>,
    removal: Arc<Removal>,
    ids: Option<TraceIdIndex>,
    /// The projects that have rows in it, ascending; computed on first use.
    pub(super) projects: OnceLock<Box<[u32]>>,
    is_unlinked_on_drop: AtomicBool,
    /// When reading it failed last.
    suspect_since: Mutex<Option<Instant>>,
}

/// Time for which a suspect part is left out of merges. Then it is tried again: the disk may have recovered.
const SUSPECT_RETRY: Duration = Duration::from_secs(3600);

impl Part {
    /// A part whose file is `path`. Does not access the file.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf, facts: PartFacts) -> Part {
        let ids = facts.ids.as_deref().and_then(TraceIdIndex::decode);
        let (footers, projects, is_unlinked_on_drop) = (Arc::default(), OnceLock::new(), AtomicBool::new(false));
        let removal = Removal::new(Arc::clone(&disk));
        let suspect_since = Mutex::default();
        Part { facts, path, disk, footers, removal, ids, projects, is_unlinked_on_drop, suspect_since }
    }

    /// Uses a shared footer cache, in which part ids are unique, and a shared `removal` that unlinks its file.
    pub fn sharing(self, footers: &Arc<Footers>, removal: &Arc<Removal>) -> Part {
        // `Part` has a destructor, so its fields cannot be moved out one by one.
        let mut part = self;
        part.footers = Arc::clone(footers);
        part.removal = Arc::clone(removal);
        part
    }

    /// The path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file for checksummed reads. [`StoreError::Corrupt`] when it is missing or damaged.
    pub fn file(&self) -> Result<PartFile, StoreError> {
        let sums = self.footer()?.sums;
        Ok(PartFile::new(self.open()?, self.facts.bytes, sums))
    }

    /// Footer, row groups and page indexes, from the footer cache or the file.
    ///
    /// Use with [`Part::file`] in `ParquetRecordBatchReaderBuilder::new_with_metadata`.
    pub fn metadata(&self) -> Result<ArrowReaderMetadata, StoreError> {
        Ok(self.footer()?.metadata)
    }

    fn open(&self) -> Result<Arc<dyn DiskFile>, StoreError> {
        let opened = match self.disk.open(&self.path) {
            // Renaming it to its own name failed after it was registered.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.disk.open(&temporary(&self.path)).map_err(|_| error)
            }
            opened => opened,
        };
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.corrupt("the catalog lists it, but the file is missing"),
            _ => StoreError::io("open", &self.path, error),
        })?;
        Ok(Arc::from(file))
    }

    fn footer(&self) -> Result<Footer, StoreError> {
        if let Some(footer) = self.footers.get(self.facts.id) {
            return Ok(footer);
        }
        let corrupt = |why: String| StoreError::Corrupt { path: self.path.clone(), why };
        let read = |e| crate::error::parquet(&self.path, e);
        let file = self.open()?;
        let length = file.len().map_err(|e| StoreError::io("read", &self.path, e))?;
        if length != self.facts.bytes {
            return Err(corrupt(format!("it has {length} bytes instead of {}", self.facts.bytes)));
        }
        let unchecked = Tail::read(PartFile::new(file, length, Arc::default())).map_err(read)?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&unchecked, options).map_err(read)?;

        let value = |key: &str| {
            let pairs = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
            pairs.filter(|pair| pair.key == key).find_map(|pair| pair.value.clone())
        };
        let sums = value(CHECKSUMS).and_then(|text| BlockSums::decode(&text));
        let sums = Arc::new(sums.unwrap_or_default());
        let rollup = Spec::of(self.facts.table).and_then(|spec| Directory::decode(&value(ROLLUP)?, spec));
        let rollup = rollup.map(|directory| Arc::new(Rollup { directory, keys: OnceLock::new() }));
        if self.facts.tail_sum != 0 {
            let bytes =
                length.checked_sub(sums.covered).ok_or_else(|| corrupt("more is summed than there is".to_owned()))?;
            let tail = unchecked.get_bytes(sums.covered, bytes as usize).map_err(read)?;
            if checksums::tail_sum(&tail) != self.facts.tail_sum {
                return Err(corrupt("the checksum of the footer does not match".to_owned()));
            }
        }
        let trigrams = value(TRIGRAMS).and_then(|text| trigram::Directory::decode(&text));
        let attr_columns = Arc::new(AttrColumns::of(&metadata));
        let footer = Footer { metadata, sums, rollup, trigrams, attr_columns };
        self.footers.insert(self.facts.id, &footer);
        Ok(footer)
    }

    /// The location of its roll-up; `None` when it has none that this version can read.
    pub fn rollup(&self) -> Result<Option<Arc<Rollup>>, StoreError> {
        Ok(self.footer()?.rollup)
    }

    /// Reads its trigram index; `None` when it has none that this version can read.
    pub fn trigrams(&self) -> Result<Option<Trigrams>, StoreError> {
        let Some(directory) = self.footer()?.trigrams else { return Ok(None) };
        let damaged = || self.corrupt("the trigram index cannot be read");
        Trigrams::decode(&directory, &self.read(directory.place)?).map(Some).ok_or_else(damaged)
    }

    /// The blocks of rows that may have one of these trace ids; `None` when it has no index that this version can read.
    pub(super) fn blocks_of_ids<'a>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Option<Blocks>, StoreError> {
        let Some(ids) = &self.ids else { return Ok(None) };
        let failed = |e| StoreError::io("read", &self.path, e);
        let file = self.open()?;
        let read = |place: Place| {
            let mut bytes = vec![0; place.length as usize];
            file.read_exact_at(&mut bytes, place.offset).map(|()| bytes)
        };
        let blocks = ids.blocks(values, read).map_err(failed)?;
        blocks.map(Some).ok_or_else(|| self.corrupt("the index of its ids cannot be read"))
    }

    /// Reads its footer, its trace id index and, if `with_rollup`, the bytes before the footer where its roll-up is, so
    /// that they are in the page cache. Keeps only the index's list of buckets. Returns the number of bytes read.
    pub(super) fn prefetch(&self, with_rollup: bool, buffer: &mut [u8]) -> Result<u64, StoreError> {
        let rollup = if with_rollup { (self.facts.rows * ROLLUP_ROW_BYTES).min(ROLLUP_BYTES_MAX) } else { 0 };
        let tail = (Tail::length(self.facts.bytes) + rollup).min(self.facts.bytes);
        let ids = self.ids.as_ref().map(TraceIdIndex::place);
        let places = [Some(Place { offset: self.facts.bytes - tail, length: tail }), ids];
        let file = self.open()?;
        let mut read = 0;
        for Place { offset, length } in places.into_iter().flatten() {
            let end = offset.saturating_add(length).min(self.facts.bytes);
            let step = buffer.len();
            for start in (offset..end).step_by(step) {
                let piece = &mut buffer[..step.min((end - start) as usize)];
                file.read_exact_at(piece, start).map_err(|e| StoreError::io("read", &self.path, e))?;
                read += piece.len() as u64;
            }
        }
        self.blocks_of_ids(std::iter::once(&[0; 16][..]))?;
        Ok(read)
    }

    /// Reads bytes of the part's file and verifies their checksums.
    pub fn read(&self, place: Place) -> Result<Bytes, StoreError> {
        let wrong = |error| crate::error::parquet(self.path(), error);
        self.file()?.get_bytes(place.offset, place.length as usize).map_err(wrong)
    }

    /// The attributes that this part stores in separate columns.
    pub fn attr_columns(&self) -> Result<Arc<AttrColumns>, StoreError> {
        Ok(self.footer()?.attr_columns)
    }

    /// An error for damaged bytes of this part.
    pub fn corrupt(&self, why: &str) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), why: why.to_owned() }
    }

    /// An error for rows that cannot be decoded.
    pub fn damaged(&self, error: &arrow::error::ArrowError) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), why: error.to_string() }
    }

    /// True when no row of these projects can be in `from <= time < to`; for `to` see
    /// [`tidewatch_store::plan::Plan::to`].
    pub fn misses(&self, projects: &[u32], from: i64, to: i64) -> bool {
        let facts = &self.facts;
        let no_time = facts.time_max < from || (facts.time_min >= to && to != i64::MAX);
        no_time || !projects.iter().any(|project| (facts.project_min..=facts.project_max).contains(project))
    }

    /// Marks the part as suspect because it cannot be read: merges, retention by project and rewriting leave it out for
    /// [`SUSPECT_RETRY`].
    pub(super) fn suspect(&self, why: &StoreError) {
        let before = self.suspect_since.lock().replace(Instant::now());
        if before.is_none() {
            let path = self.path.display();
            tracing::error!(%path, "a part is suspect, and left out of merges: {why}");
        }
    }

    /// Whether reading it has failed.
    pub fn is_suspect(&self) -> bool {
        self.suspect_since.lock().is_some()
    }

    /// Whether it is suspect and its retry time has not come.
    pub(super) fn is_left_out(&self, now: Instant) -> bool {
        self.suspect_since.lock().is_some_and(|since| now.saturating_duration_since(since) < SUSPECT_RETRY)
    }

    /// Unlinks the file when the last reader drops the part. Called after the catalog no longer lists it.
    pub fn unlink_on_drop(&self) {
        self.is_unlinked_on_drop.store(true, Ordering::Release);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.footers.remove(self.facts.id);
        if !self.is_unlinked_on_drop.load(Ordering::Acquire) {
            return;
        }
        self.removal.remove(self.facts.id, std::mem::take(&mut self.path));
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("path", &self.path).field("facts", &self.facts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_domain::units::DAY_NS;

    /// Earlier releases stored rows of the far future under their own days.
    #[test]
    fn retention_counts_from_the_day_after_the_receipt_at_the_latest() {
        const TODAY: i32 = 21_000;
        for (day, received_day, expected) in [
            (TODAY, TODAY, TODAY),
            (TODAY + 1, TODAY, TODAY + 1),
            (TODAY + 2, TODAY, TODAY + 1),
            (84_000, TODAY, TODAY + 1),
            (84_000, TODAY - 40, TODAY - 39),
            (3, TODAY, 3),
            // The clock was behind at receipt: the day of the row counts.
            (TODAY, TODAY - 60, TODAY),
            (84_000, 0, 84_000),
            (84_000, i32::MAX, 84_000),
        ] {
            let received_max = i64::from(received_day).saturating_mul(DAY_NS);
            let facts = PartFacts {
                id: 1,
                first_id: 1,
                table: Table::Spans,
                day,
                rows: 1,
                bytes: 1,
                time_min: 0,
                time_max: 0,
                project_min: 1,
                project_max: 1,
                level: 0,
                tail_sum: 0,
                received_min: 0,
                received_max,
                ids: None,
            };
            assert_eq!(facts.retention_day(TODAY), expected, "{day} received on {received_day}");
        }
    }
}
