//! Builds the cells of a part's roll-up while the part is written.
//!
//! Rows arrive in the part's order: by name, then by time. A cell is complete when a later cell of the same key, or
//! another name, begins. It is then encoded, and added to the cell of the next level that contains it. Rows in another
//! order are correct too but give more cells, because cells of the same key and start add up. Cells of a table that is
//! not sorted by name end with their time only.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt8Array};
use arrow::compute::{filter_record_batch, is_not_null};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

use super::chunk::{Cell, ChunkWriter};
use super::directory::{ChunkPlace, Directory, Place};
use super::keys;
use crate::batch::cells::{Cells, cells, times};
use crate::batch::keys::{Groups, Key};
use tidewatch_domain::rules::sampling::WEIGHT_MAX;
use tidewatch_store::StoreError;
use tidewatch_store::rollup::levels::{CHUNKS, TIME_MAX, WIDTHS};
use tidewatch_store::rollup::sketch::bucket_of;
use tidewatch_store::rollup::spec::{Dim, Spec};
use tidewatch_store::tables::Table;

/// A part with more keys than this gets no roll-up, which would not be much smaller than the rows.
const KEYS_MAX: usize = 32_768;
/// A part with more chunks than this gets no roll-up. Only wrong clocks give that many.
const CHUNKS_MAX: usize = 512;
/// Buckets collected in an incomplete cell before equal ones are merged.
const UNMERGED_BUCKETS_MAX: usize = 2048;

/// Builds the roll-up of one part.
pub struct Builder {
    spec: &'static Spec,
    groups: Groups,
    assigned: Vec<u32>,
    levels: Vec<Level>,
    /// By key: a number for its project and first dimension.
    name_ids: Vec<u32>,
    name_id: u32,
    rows: u64,
    shrink: u64,
    /// The part gets no roll-up because of a limit, a weight or a time.
    is_unsupported: bool,
}

#[derive(Default)]
struct Level {
    /// Incomplete cells by key; one without rows is unused.
    open: Vec<Cell>,
    /// A superset of the keys with incomplete cells.
    opened: Vec<u32>,
    chunks: BTreeMap<i64, ChunkWriter>,
    cells: u64,
}

/// A finished roll-up.
pub struct Section {
    /// Bytes of the section in the part's file.
    pub bytes: Vec<u8>,
    /// Value of the metadata key [`super::directory::ROLLUP`].
    pub directory: String,
}

impl Builder {
    /// `None` when the table has no roll-up. A level is kept when `shrink` times its cells are at most the number of
    /// rows, or of cells in the next finer level that is kept.
    pub fn new(table: Table, shrink: u64) -> Option<Builder> {
        let spec = Spec::of(table)?;
        let dims = std::iter::once("project").chain(spec.dims.iter().map(|dim| dim.column()));
        let band = spec.sketched.filter(|_| !spec.bands.is_empty());
        let column = |name| table.column(name).expect("a dimension is a column of the table").1;
        let keys: Vec<Key> = dims.chain(band).map(|name| Key::Column(column(name))).collect();
        Some(Builder {
            spec,
            groups: Groups::new(&keys),
            assigned: Vec::new(),
            levels: WIDTHS.iter().map(|_| Level::default()).collect(),
            name_ids: Vec::new(),
            name_id: 0,
            rows: 0,
            shrink,
            is_unsupported: false,
        })
    }

    /// Adds rows, in the part's order.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        if self.is_unsupported || batch.num_rows() == 0 {
            return Ok(());
        }
        let spec = self.spec;
        let required = spec.required.map(|required| rows_with(spec, required, batch)).transpose()?;
        let batch = required.as_ref().unwrap_or(batch);
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let sketched = spec.sketched.map(|name| cells(batch, name)).transpose()?;
        let sketched = match &sketched {
            Some(Cells::I64(values)) => Some(values.values()),
            _ => None,
        };
        self.groups.assign(&dimensions(spec, batch, sketched.map(|values| &values[..]))?, &mut self.assigned)?;
        if self.groups.len() > KEYS_MAX {
            self.is_unsupported = true;
            return Ok(());
        }
        self.assign_name_ids();
        let times = times(batch)?.values();
        let weights = cells(batch, "weight")?.numbers();
        let sums: Vec<Vec<f64>> =
            spec.sums.iter().map(|name| Ok(cells(batch, name)?.numbers())).collect::<Result<_, StoreError>>()?;
        let nulls = spec.sums.iter().map(|name| Ok(cells(batch, name)?.validity()));
        let nulls: Vec<_> = nulls.collect::<Result<_, StoreError>>()?;
        let latest = spec.latest.map(|name| cells(batch, name)).transpose()?;
        for (row, key) in std::mem::take(&mut self.assigned).into_iter().enumerate() {
            let (time, weight) = (times[row], weights[row]);
            if !(1.0..=WEIGHT_MAX).contains(&weight) || time.abs() > TIME_MAX {
                self.is_unsupported = true;
                return Ok(());
            }
            if spec.is_sorted && self.name_ids[key as usize] != self.name_id {
                self.close_all();
                self.name_id = self.name_ids[key as usize];
            }
            let cell = self.open(spec.finest, key, time);
            cell.rows += 1;
            cell.weight += weight;
            cell.add_times(time, time, latest.as_ref().map_or(&[], |latest| latest.bytes(row)));
            for (sum, (values, nulls)) in cell.sums.iter_mut().zip(sums.iter().zip(&nulls)) {
                if !nulls.is_some_and(|nulls| nulls.is_null(row)) {
                    *sum += values[row] * weight;
                }
            }
            if let Some(values) = sketched {
                cell.buckets.push((bucket_of(values[row]), weight));
            }
            self.rows += 1;
        }
        Ok(())
    }

    /// Numbers the project and first dimension of new keys.
    fn assign_name_ids(&mut self) {
        for key in self.name_ids.len()..self.groups.len() {
            let same = |other: &usize| {
                [0, 1].iter().all(|dim| self.groups.value(*other, *dim) == self.groups.value(key, *dim))
            };
            // Keys with the same name are consecutive.
            let known = (0..key).rev().take(16).find(same);
            self.name_ids.push(known.map_or(key as u32 + 1, |other| self.name_ids[other]));
        }
        for level in &mut self.levels {
            level.open.resize_with(self.groups.len(), Cell::default);
        }
    }

    /// The incomplete cell of a key at a time. Completes the previous cell of the key.
    fn open(&mut self, level: usize, key: u32, time: i64) -> &mut Cell {
        let start = time.div_euclid(WIDTHS[level]) * WIDTHS[level];
        let cell = &self.levels[level].open[key as usize];
        if cell.rows > 0 && cell.start != start {
            self.close(level, key);
        }
        let Level { open, opened, .. } = &mut self.levels[level];
        let cell = &mut open[key as usize];
        if cell.rows == 0 {
            (cell.start, cell.latest, cell.earliest) = (start, i64::MIN, i64::MAX);
            opened.push(key);
        }
        cell
    }

    fn close(&mut self, level: usize, key: u32) {
        let spec = self.spec;
        let mut cell = std::mem::take(&mut self.levels[level].open[key as usize]);
        merge_equal_buckets(&mut cell.buckets);
        // An infinite sum cannot be merged.
        self.is_unsupported |= !cell.sums.iter().all(|sum| sum.is_finite());
        let Level { chunks, cells, .. } = &mut self.levels[level];
        let chunk = chunks.entry(cell.start.div_euclid(CHUNKS[level]));
        chunk.or_insert_with(|| ChunkWriter::new(spec, WIDTHS[level])).write(key, &cell);
        *cells += 1;
        if level + 1 < self.levels.len() {
            let above = self.open(level + 1, key, cell.start);
            above.rows += cell.rows;
            above.weight += cell.weight;
            above.add_times(cell.earliest, cell.latest, &cell.latest_value);
            above.sums.iter_mut().zip(cell.sums).for_each(|(above, sum)| *above += sum);
            above.buckets.extend_from_slice(&cell.buckets);
            if above.buckets.len() > UNMERGED_BUCKETS_MAX {
                merge_equal_buckets(&mut above.buckets);
            }
        }
        // Reuses the memory of the buckets.
        cell.buckets.clear();
        self.levels[level].open[key as usize].buckets = cell.buckets;
    }

    fn close_all(&mut self) {
        for level in 0..self.levels.len() {
            for key in std::mem::take(&mut self.levels[level].opened) {
                if self.levels[level].open[key as usize].rows > 0 {
                    self.close(level, key);
                }
            }
        }
    }

    /// The roll-up, to be written at `offset` of the file. `None` when the part gets none or no level is kept.
    pub fn finish(mut self, offset: u64) -> Option<Section> {
        self.close_all();
        let chunks: usize = self.levels.iter().map(|level| level.chunks.len()).sum();
        if self.is_unsupported || chunks > CHUNKS_MAX {
            return None;
        }
        let mut bytes = Vec::new();
        keys::encode(&self.groups, self.spec, &mut bytes);
        let keys = Place { offset, length: bytes.len() as u64 };
        let mut directory = Directory { keys, chunks: Vec::new() };
        let mut finer = self.rows;
        for (level, Level { chunks, cells, .. }) in self.levels.into_iter().enumerate().skip(self.spec.finest) {
            if cells.saturating_mul(self.shrink) > finer {
                continue;
            }
            finer = cells;
            for (number, chunk) in chunks {
                let start = bytes.len() as u64;
                chunk.finish(&mut bytes);
                let place = Place { offset: offset + start, length: bytes.len() as u64 - start };
                directory.chunks.push(ChunkPlace { level, number, place });
            }
        }
        (!directory.chunks.is_empty()).then(|| Section { bytes, directory: directory.encode(self.spec) })
    }
}

impl Cell {
    /// Extends the cell by rows between these times; `value` is the kept value of the latest row.
    fn add_times(&mut self, earliest: i64, latest: i64, value: &[u8]) {
        self.earliest = self.earliest.min(earliest);
        let is_latest = latest > self.latest || (latest == self.latest && value > &self.latest_value[..]);
        if is_latest {
            self.latest = latest;
            if let Ok(value) = value.try_into() {
                self.latest_value = value;
            }
        }
    }
}

/// Sorts buckets and merges equal ones.
fn merge_equal_buckets(buckets: &mut Vec<(i16, f64)>) {
    buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
    buckets.dedup_by(|(bucket, count), (kept, sum)| {
        let same = bucket == kept;
        if same {
            *sum += *count;
        }
        same
    });
}

/// The rows with a value in the column `required`, with the columns that cells are computed from.
fn rows_with(spec: &Spec, required: &str, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
    let internal = StoreError::internal("roll up");
    let names = ["project", "time", "weight"].into_iter().chain(spec.dims.iter().map(|dim| dim.column()));
    let names = names.chain(spec.sums.iter().copied()).chain(spec.sketched).chain(spec.latest);
    let schema = batch.schema();
    let mut columns: Vec<usize> =
        names.map(|name| schema.index_of(name)).collect::<Result<_, _>>().map_err(StoreError::internal("roll up"))?;
    columns.sort_unstable();
    columns.dedup();
    let rows = is_not_null(batch.column(schema.index_of(required).map_err(StoreError::internal("roll up"))?))
        .map_err(StoreError::internal("roll up"))?;
    let narrow = batch.project(&columns).map_err(StoreError::internal("roll up"))?;
    filter_record_batch(&narrow, &rows).map_err(internal)
}

/// The columns of the keys: presence as bool, the sketched column as its band.
fn dimensions(spec: &Spec, batch: &RecordBatch, sketched: Option<&[i64]>) -> Result<RecordBatch, StoreError> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    let mut add = |name: &str, array: ArrayRef| {
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    };
    let missing = |name| StoreError::Internal { what: "roll up", why: format!("column {name} is not in the batch") };
    let column = |name| batch.column_by_name(name).ok_or_else(|| missing(name));
    add("project", Arc::clone(column("project")?));
    for dim in spec.dims {
        match dim {
            Dim::Column(name) => add(name, Arc::clone(column(name)?)),
            Dim::Presence(name) => {
                let array = column(name)?;
                let is_there: BooleanArray = (0..array.len()).map(|row| Some(array.is_valid(row))).collect();
                add(name, Arc::new(is_there));
            }
        }
    }
    if let (Some(name), Some(values), false) = (spec.sketched, sketched, spec.bands.is_empty()) {
        let bands = values.iter().map(|value| spec.band_of(*value));
        add(name, Arc::new(bands.collect::<UInt8Array>()));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(StoreError::internal("roll up"))
}
