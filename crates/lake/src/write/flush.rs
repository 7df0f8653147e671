//! A sealed memtable to sorted parts, one per table and UTC day: synced, under temporary names, not yet registered.

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
use crate::dedup::file as seen_file;
use crate::dedup::file::{Generation, SeenFacts, SeenFile};
use crate::memtable::Sealed;
use crate::options::{LakeOptions, RollupOptions};
use crate::part::footers::Footers;
use crate::part::removal::Removal;
use crate::part::temporary::temporary;
use crate::part::{Part, PartFacts};
use crate::rollup::builder::Builder;
use crate::schedule::background_throttle::{Flushing, Pace};
use crate::schedule::yielding::yield_point;
use crate::sort;
use tidewatch_columnar::materialize;
use tidewatch_store::StoreError;
use tidewatch_store::days;
use tidewatch_store::tables::Table;

/// Where files of the lake lie, and the ids they get.
pub struct Layout {
    pub disk: Arc<dyn Disk>,
    /// The data directory.
    pub dir: PathBuf,
    /// Parts of at least so many rows get columns for their frequent attributes; `None`: none does.
    attr_columns_from: Option<usize>,
    rollups: RollupOptions,
    /// By table number, the attributes that got columns in the last flush.
    chosen: Mutex<[Vec<AttrKey>; Table::ALL.len()]>,
    footers: Arc<Footers>,
    pub pace: Arc<Pace>,
    pub removal: Arc<Removal>,
    /// The catalog makes it durable.
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
            pace: Arc::default(),
            removal: Removal::new(Arc::clone(&options.disk)),
            next_id,
        }
    }

    /// Ids grow with time. None is used twice, over restarts too.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub fn seen_folder(&self) -> PathBuf {
        self.dir.join("seen")
    }

    /// `parts/<table>/<day>/<id>.parquet`
    pub fn part_path(&self, facts: &PartFacts) -> PathBuf {
        facts.path(&self.dir)
    }

    /// The part with these facts; its file is not touched yet.
    pub fn part(&self, facts: PartFacts) -> Part {
        Part::new(Arc::clone(&self.disk), self.part_path(&facts), facts).sharing(&self.footers, &self.removal)
    }

    /// A writer for a new part of this table and day with about so many rows, its folder made durable.
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

    /// The attributes that get columns in a part with such rows.
    pub fn choose(&self, table: Table, samples: &[RecordBatch]) -> Vec<AttrKey> {
        let chosen = &mut self.chosen.lock()[table as usize];
        *chosen = attr_columns::choose(samples, chosen);
        chosen.clone()
    }

    pub fn make_folder(&self, folder: &Path) -> Result<(), StoreError> {
        self.disk.create_dir_all(folder).map_err(|e| StoreError::io("create", folder, e))
    }

    /// A part of so many rows gets columns for its frequent attributes.
    pub fn splits_attributes(&self, rows: usize) -> bool {
        self.attr_columns_from.is_some_and(|least| rows >= least)
    }

    /// Gives parts their names, now that the catalog lists them. Need not be durable: see [`Layout::publish_listed`].
    pub fn publish(&self, parts: &[PartFacts]) {
        parts.iter().for_each(|facts| self.publish_file(&self.part_path(facts)));
    }

    /// As [`Layout::publish`], of a key file.
    pub fn publish_keys(&self, facts: &SeenFacts) {
        self.publish_file(&SeenFile::path(&self.seen_folder(), facts.id));
    }

    fn publish_file(&self, path: &Path) {
        // Until the next start it is read under its temporary name.
        if let Err(error) = self.disk.rename(&temporary(path), path) {
            tracing::error!(path = %path.display(), %error, "cannot give a registered file its name");
        }
    }

    /// Gives a listed file its name when a crash came in between; false when it had it or there is no such file.
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

    /// Takes back files that were written and will not be registered.
    pub fn discard(&self, parts: &[PartFacts]) {
        parts.iter().for_each(|facts| self.discard_file(&self.part_path(facts)));
    }

    /// As [`Layout::discard`], of a key file.
    pub fn discard_keys(&self, facts: &SeenFacts) {
        self.discard_file(&SeenFile::path(&self.seen_folder(), facts.id));
    }

    fn discard_file(&self, path: &Path) {
        let path = temporary(path);
        // What stays is removed at the next start.
        if let Err(error) = self.disk.remove(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove an unregistered file");
        }
    }
}

/// Writes every row of the memtable, received together with `keys`. On an error nothing is left behind but what could not be removed.
pub fn write_parts(layout: &Layout, sealed: &Sealed, keys: &KeySet) -> Result<Vec<PartFacts>, StoreError> {
    write(layout, sealed, keys, None)
}

/// As [`write_parts`], but without the tables whose rows cannot be encoded: the second list.
pub fn write_sound_parts(
    layout: &Layout,
    sealed: &Sealed,
    keys: &KeySet,
) -> Result<(Vec<PartFacts>, Vec<Table>), StoreError> {
    let mut left_out = Vec::new();
    let parts = write(layout, sealed, keys, Some(&mut left_out))?;
    Ok((parts, left_out))
}

/// Whether the error is one of the rows, which stays however often they are written, and not one of the disk.
pub fn is_defect(error: &StoreError) -> bool {
    matches!(error, StoreError::Internal { .. } | StoreError::Corrupt { .. })
}

/// `left_out` gets the tables with defects; `None`: a defect is an error.
fn write(
    layout: &Layout,
    sealed: &Sealed,
    keys: &KeySet,
    mut left_out: Option<&mut Vec<Table>>,
) -> Result<Vec<PartFacts>, StoreError> {
    let mut parts = Vec::new();
    let rows: usize = sealed.tables.iter().flatten().map(RecordBatch::num_rows).sum();
    let mut progress = layout.pace.flush(3 * rows);
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
    // Otherwise a merge must look for records that came twice.
    if !keys.keys.is_empty() && keys.is_complete {
        for facts in &mut parts {
            // The trusted time, where the clock was behind it: retention counts from there, too.
            let received_max = sealed.received_max.map_or(keys.received_max, |until| until.max(keys.received_max));
            (facts.received_min, facts.received_max) = (keys.received_min, received_max);
        }
    }
    Ok(parts)
}

/// Rows of one table to one part per day, appended to `parts`. A row counts as done three times: when it is sorted,
/// when it was handed to the part, which then has all its columns yet to end, and when that is written.
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

/// Some rows of every batch, from all over it: neighbours may be of one series. Only what is split.
fn samples(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let some = |batch: &RecordBatch| {
        let rows = UInt32Array::from(attr_columns::sample_rows(batch.num_rows()));
        let sample = take_record_batch(&attr_columns::encoded(batch), &rows).expect("the rows are in the batch");
        materialize::plain(&sample)
    };
    batches.iter().map(some).collect()
}

/// Writes the keys received with a memtable; `None` when there were none.
pub fn write_keys(layout: &Layout, set: &KeySet) -> Result<Option<SeenFile>, StoreError> {
    if set.keys.is_empty() {
        return Ok(None);
    }
    let keys = set.sorted();
    let facts = SeenFacts {
        id: layout.next_id(),
        keys: keys.len() as u64,
        received_min: set.received_min,
        received_max: set.received_max,
        level: 0,
    };
    let folder = layout.seen_folder();
    layout.make_folder(&folder)?;
    let mut keys = keys.into_iter();
    let (generation, keys_max) = (Generation::default(), facts.keys);
    seen_file::write(&layout.disk, &folder, generation, facts, keys_max, || Ok(keys.next())).map(Some)
}
