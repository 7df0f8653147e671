//! Writes a sealed memtable as sorted parts, one per table and UTC day: synced, under temporary names, not yet
//! registered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::Int64Type;
use parking_lot::Mutex;
use tidewatch_journal::disk::{Disk, parent_of};

use super::part_writer::PartWriter;
use crate::attr_columns;
use crate::attr_columns::AttrKey;
use crate::dedup::KeySet;
use crate::dedup::file as dedup_file;
use crate::dedup::file::{DedupFile, DedupFileFacts, Generation};
use crate::memtable::Sealed;
use crate::options::{LakeOptions, RollupOptions};
use crate::part::footers::Footers;
use crate::part::removal::Removal;
use crate::part::temporary::temporary;
use crate::part::{Part, PartFacts};
use crate::rollup::builder::Builder;
use crate::schedule::background_throttle::{BackgroundThrottle, Flushing};
use crate::schedule::yielding::yield_point;
use crate::sort;
use tidewatch_columnar::materialize;
use tidewatch_store::StoreError;
use tidewatch_store::days;
use tidewatch_store::tables::Table;

/// The paths of the lake's files, and their ids.
pub struct Layout {
    pub disk: Arc<dyn Disk>,
    /// The data directory.
    pub dir: PathBuf,
    /// Minimum rows of a part with columns for its frequent attributes; `None` disables these columns.
    attr_columns_from: Option<usize>,
    rollups: RollupOptions,
    /// By table number, the attributes that had columns in the last flush.
    chosen: Mutex<[Vec<AttrKey>; Table::ALL.len()]>,
    footers: Arc<Footers>,
    pub throttle: Arc<BackgroundThrottle>,
    pub removal: Arc<Removal>,
    /// The next id, which the catalog makes durable.
    next_id: Arc<AtomicU64>,
}

impl Layout {
    pub fn new(options: &LakeOptions, next_id: Arc<AtomicU64>) -> Layout {
        Layout {
            disk: Arc::clone(&options.disk),
            dir: options.dir.clone(),
            attr_columns_from: options.attr_columns_from,
            rollups: options.rollups,
            chosen: Mutex::default(),
            footers: Arc::default(),
            throttle: Arc::default(),
            removal: Removal::new(Arc::clone(&options.disk)),
            next_id,
        }
    }

    /// Returns a new id. Ids increase with time and are never reused, not even after a restart.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub fn dedup_folder(&self) -> PathBuf {
        self.dir.join("seen")
    }

    /// `parts/<table>/<day>/<id>.parquet`
    pub fn part_path(&self, facts: &PartFacts) -> PathBuf {
        facts.path(&self.dir)
    }

    /// The part with these facts; its file is not opened.
    pub fn part(&self, facts: PartFacts) -> Part {
        Part::new(Arc::clone(&self.disk), self.part_path(&facts), facts).sharing(&self.footers, &self.removal)
    }

    /// Starts a new part of this table and day with about `rows` rows, in a durable folder.
    pub fn create_part(
        &self,
        table: Table,
        day: i32,
        level: u8,
        first_id: Option<u64>,
        keys: Vec<AttrKey>,
        rows: usize,
    ) -> Result<PartWriter, StoreError> {
        let id = self.next_id();
        let facts = PartFacts {
            id,
            first_id: first_id.unwrap_or(id),
            table,
            day,
            rows: 0,
            bytes: 0,
            time_min: i64::MAX,
            time_max: i64::MIN,
            project_min: u32::MAX,
            project_max: 0,
            level,
            tail_sum: 0,
            received_min: i64::MIN,
            received_max: i64::MAX,
            ids: None,
        };
        let path = self.part_path(&facts);
        self.make_folder(parent_of(&path))?;
        let rollup = match rows >= self.rollups.part_rows {
            true => Builder::new(table, self.rollups.shrink),
            false => None,
        };
        PartWriter::create(Arc::clone(&self.disk), path, facts, keys, rollup)
    }

    /// Chooses the attributes that get columns in a part with such rows.
    pub fn choose(&self, table: Table, samples: &[RecordBatch]) -> Vec<AttrKey> {
        let chosen = &mut self.chosen.lock()[table as usize];
        *chosen = attr_columns::choose(samples, chosen);
        chosen.clone()
    }

    pub fn make_folder(&self, folder: &Path) -> Result<(), StoreError> {
        self.disk.create_dir_all(folder).map_err(|e| StoreError::io("create", folder, e))
    }

    /// Whether a part of `rows` rows gets columns for its frequent attributes.
    pub fn splits_attributes(&self, rows: usize) -> bool {
        self.attr_columns_from.is_some_and(|least| rows >= least)
    }

    /// Renames registered parts to their final names. The rename need not be durable: see [`Layout::publish_listed`].
    pub fn publish(&self, parts: &[PartFacts]) {
        parts.iter().for_each(|facts| self.publish_file(&self.part_path(facts)));
    }

    /// Like [`Layout::publish`], for a key file.
    pub fn publish_keys(&self, facts: &DedupFileFacts) {
        self.publish_file(&DedupFile::path(&self.dedup_folder(), facts.id));
    }

    fn publish_file(&self, path: &Path) {
        // Until the next start, the file is read under its temporary name.
        if let Err(error) = self.disk.rename(&temporary(path), path) {
            tracing::error!(path = %path.display(), %error, "cannot give a registered file its name");
        }
    }

    /// Renames a listed file to its final name after a crash; false when it has that name or does not exist.
    pub fn publish_listed(&self, path: &Path) -> Result<bool, StoreError> {
        let temporary = temporary(path);
        if self.disk.exists(path) || !self.disk.exists(&temporary) {
            return Ok(false);
        }
        self.disk.rename(&temporary, path).map_err(|e| StoreError::io("rename", &temporary, e))?;
        let folder = parent_of(path);
        self.disk.sync_dir(folder).map_err(|e| StoreError::io("sync", folder, e))?;
        Ok(true)
    }

    /// Removes written files that will not be registered.
    pub fn discard(&self, parts: &[PartFacts]) {
        parts.iter().for_each(|facts| self.discard_file(&self.part_path(facts)));
    }

    /// Like [`Layout::discard`], for a key file.
    pub fn discard_keys(&self, facts: &DedupFileFacts) {
        self.discard_file(&DedupFile::path(&self.dedup_folder(), facts.id));
    }

    fn discard_file(&self, path: &Path) {
        let path = temporary(path);
        // The next start removes a file that remains.
        if let Err(error) = self.disk.remove(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove an unregistered file");
        }
    }
}

/// Writes the rows of the memtable, whose keys are `keys`. On an error, only files that cannot be removed remain.
pub fn write_parts(layout: &Layout, sealed: &Sealed, keys: &KeySet) -> Result<Vec<PartFacts>, StoreError> {
    write(layout, sealed, keys, None)
}

/// Like [`write_parts`], but leaves out the tables whose rows cannot be encoded, and returns these as the second list.
pub fn write_sound_parts(
    layout: &Layout,
    sealed: &Sealed,
    keys: &KeySet,
) -> Result<(Vec<PartFacts>, Vec<Table>), StoreError> {
    let mut left_out = Vec::new();
    let parts = write(layout, sealed, keys, Some(&mut left_out))?;
    Ok((parts, left_out))
}

/// Whether the rows cause the error, which then persists, and not the disk.
pub fn is_defect(error: &StoreError) -> bool {
    matches!(error, StoreError::Internal { .. } | StoreError::Corrupt { .. })
}

/// `left_out` receives the tables with defects; `None`: a defect is an error.
fn write(
    layout: &Layout,
    sealed: &Sealed,
    keys: &KeySet,
    mut left_out: Option<&mut Vec<Table>>,
) -> Result<Vec<PartFacts>, StoreError> {
    let mut parts = Vec::new();
    let rows: usize = sealed.tables.iter().flatten().map(RecordBatch::num_rows).sum();
    let mut progress = layout.throttle.flush(3 * rows);
    for table in Table::ALL {
        let before = parts.len();
        let (batches, received_max) = (&sealed.tables[table as usize], sealed.received_max);
        let attempt = AssertUnwindSafe(|| write_table(layout, table, batches, received_max, &mut progress, &mut parts));
        let written =
            catch_unwind(attempt).unwrap_or_else(|panic| Err(StoreError::panicked("write rows as parts", &*panic)));
        match (written, &mut left_out) {
            (Ok(()), _) => {}
            (Err(error), Some(left_out)) if is_defect(&error) => {
                tracing::error!(%error, table = table.name(), "rows of {} cannot be written: {error}", table.name());
                layout.discard(&parts[before..]);
                parts.truncate(before);
                left_out.push(table);
            }
            (Err(error), _) => {
                layout.discard(&parts);
                return Err(error);
            }
        }
    }
    // Otherwise a merge must look for records stored twice.
    if !keys.keys.is_empty() && keys.is_complete {
        for facts in &mut parts {
            // At least the trusted time, which retention uses, when the clock was behind it.
            let received_max = sealed.received_max.map_or(keys.received_max, |until| until.max(keys.received_max));
            (facts.received_min, facts.received_max) = (keys.received_min, received_max);
        }
    }
    Ok(parts)
}

/// Writes the rows of one table as one part per day, appended to `parts`. The progress counts each row three times:
/// when it is sorted, when it is added to the part, and when the part is finished.
fn write_table(
    layout: &Layout,
    table: Table,
    batches: &[RecordBatch],
    received_max: Option<i64>,
    progress: &mut Flushing<'_>,
    parts: &mut Vec<PartFacts>,
) -> Result<(), StoreError> {
    let (time, _) = table.column("time").expect("every table has a time");
    let times = batches.iter().enumerate().flat_map(|(number, batch)| {
        let times = batch.column(time).as_primitive::<Int64Type>().values().iter();
        times.enumerate().map(move |(row, time)| (*time, (number, row)))
    });
    let mut days = days::split(times, days::latest_day(received_max));
    yield_point();
    sort::sort_places(table, batches, &mut days.values_mut().collect::<Vec<_>>());
    yield_point();
    let frequent = match layout.splits_attributes(batches.iter().map(RecordBatch::num_rows).sum()) {
        true => layout.choose(table, &samples(batches)),
        false => Vec::new(),
    };
    for (day, places) in days {
        let keys = if layout.splits_attributes(places.len()) { frequent.clone() } else { Vec::new() };
        let mut writer = layout.create_part(table, day, 0, None, keys, places.len())?;
        progress.add(places.len());
        sort::gather(batches, &places, |batch| {
            progress.add(batch.num_rows());
            writer.write(batch)
        })?;
        parts.push(writer.finish()?);
        progress.add(places.len());
    }
    Ok(())
}

/// Samples rows from each whole batch, because adjacent rows may belong to one series. Only columns that are split.
fn samples(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let some = |batch: &RecordBatch| {
        let rows = UInt32Array::from(attr_columns::sample_rows(batch.num_rows()));
        let sample = take_record_batch(&attr_columns::encoded(batch), &rows).expect("the rows are in the batch");
        materialize::plain(&sample)
    };
    batches.iter().map(some).collect()
}

/// Writes the keys of a memtable; `None` when there are none.
pub fn write_keys(layout: &Layout, set: &KeySet) -> Result<Option<DedupFile>, StoreError> {
    if set.keys.is_empty() {
        return Ok(None);
    }
    let keys = set.sorted();
    let facts = DedupFileFacts {
        id: layout.next_id(),
        keys: keys.len() as u64,
        received_min: set.received_min,
        received_max: set.received_max,
        level: 0,
    };
    let folder = layout.dedup_folder();
    layout.make_folder(&folder)?;
    let mut keys = keys.into_iter();
    let (generation, keys_max) = (Generation::default(), facts.keys);
    dedup_file::write(&layout.disk, &folder, generation, facts, keys_max, || Ok(keys.next())).map(Some)
}
