//! Rows of a part to cells, while the part is written.
//!
//! Rows come in the part's order: those of one name together, and in time. So a cell is finished as soon as a later one
//! of the same key begins, or another name; it is then encoded, and added to the cell of the next level it lies in.
//! Rows in any other order only make more cells than needed: cells add up.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt8Array};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

use super::chunk::{Cell, ChunkWriter};
use super::directory::{ChunkPlace, Directory, Place};
use super::keys;
use crate::batch::cells::{Cells, cells, times};
use crate::batch::keys::{Groups, Key};
use tidewatch_store::StoreError;
use tidewatch_store::rollup::levels::{CHUNKS, TIME_MAX, WIDTHS};
use tidewatch_store::rollup::sketch::bucket_of;
use tidewatch_store::rollup::spec::{Dim, Spec};
use tidewatch_store::tables::Table;

/// More keys than this are no summary of anything.
const KEYS_MAX: usize = 32_768;
/// More chunks than this mean clocks gone astray.
const CHUNKS_MAX: usize = 512;
/// Buckets collected in an unfinished cell before equal ones are added up.
const BUCKETS_LOOSE: usize = 2048;
/// Weights outside of this are not what sampling makes.
const WEIGHT_MAX: f64 = 1e9;

/// The roll-up of a part in the making.
pub struct Builder {
    spec: &'static Spec,
    groups: Groups,
    assigned: Vec<u32>,
    levels: Vec<Level>,
    /// Of each key: project and first dimension as a number.
    leads: Vec<u32>,
    lead: u32,
    rows: u64,
    shrink: u64,
    /// The rows are not of the kind that can be rolled up.
    hopeless: bool,
}

#[derive(Default)]
struct Level {
    /// Unfinished cells by key; without rows there is none.
    open: Vec<Cell>,
    /// Keys of unfinished cells, perhaps with others.
    opened: Vec<u32>,
    chunks: BTreeMap<i64, ChunkWriter>,
    cells: u64,
}

/// A finished roll-up: bytes for the part's file, and what its metadata says of them.
pub struct Section {
    pub bytes: Vec<u8>,
    pub directory: String,
}

impl Builder {
    /// `None` when the table is not rolled up. A level is kept when `shrink` times its cells are at most as many as the
    /// rows (or the cells of the next finer level that is kept).
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
            leads: Vec::new(),
            lead: 0,
            rows: 0,
            shrink,
            hopeless: false,
        })
    }

    /// Adds rows of the table.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        if self.hopeless || batch.num_rows() == 0 {
            return Ok(());
        }
        let spec = self.spec;
        let sketched = spec.sketched.map(|name| cells(batch, name)).transpose()?;
        let sketched = match &sketched {
            Some(Cells::I64(values)) => Some(values.values()),
            _ => None,
        };
        self.groups.assign(&dimensions(spec, batch, sketched.map(|values| &values[..]))?, &mut self.assigned)?;
        if self.groups.len() > KEYS_MAX {
            self.hopeless = true;
            return Ok(());
        }
        self.lead_new_keys();
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
                self.hopeless = true;
                return Ok(());
            }
            if self.leads[key as usize] != self.lead {
                self.close_all();
                self.lead = self.leads[key as usize];
            }
            let cell = self.open(0, key, time);
            cell.rows += 1;
            cell.weight += weight;
            cell.see(time, time, latest.as_ref().map_or(&[], |latest| latest.bytes(row)));
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

    /// Numbers the project and first dimension of keys that are new.
    fn lead_new_keys(&mut self) {
        for key in self.leads.len()..self.groups.len() {
            let same = |other: &usize| {
                [0, 1].iter().all(|dim| self.groups.value(*other, *dim) == self.groups.value(key, *dim))
            };
            // Keys of one name come one after the other.
            let known = (0..key).rev().take(16).find(same);
            self.leads.push(known.map_or(key as u32 + 1, |other| self.leads[other]));
        }
        for level in &mut self.levels {
            level.open.resize_with(self.groups.len(), Cell::default);
        }
    }

    /// The unfinished cell at a time; the one before it is finished.
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
        add_up(&mut cell.buckets);
        // A sum beyond every double says nothing of its parts.
        self.hopeless |= !cell.sums.iter().all(|sum| sum.is_finite());
        let Level { chunks, cells, .. } = &mut self.levels[level];
        let chunk = chunks.entry(cell.start.div_euclid(CHUNKS[level]));
        chunk.or_insert_with(|| ChunkWriter::new(spec, WIDTHS[level])).write(key, &cell);
        *cells += 1;
        if level + 1 < self.levels.len() {
            let above = self.open(level + 1, key, cell.start);
            above.rows += cell.rows;
            above.weight += cell.weight;
            above.see(cell.earliest, cell.latest, &cell.latest_value);
            above.sums.iter_mut().zip(cell.sums).for_each(|(above, sum)| *above += sum);
            above.buckets.extend_from_slice(&cell.buckets);
            if above.buckets.len() > BUCKETS_LOOSE {
                add_up(&mut above.buckets);
            }
        }
        // Its memory is used again.
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

    /// The roll-up, to be written at `offset` of the file. `None` when it would be of no use.
    pub fn finish(mut self, offset: u64) -> Option<Section> {
        self.close_all();
        let chunks: usize = self.levels.iter().map(|level| level.chunks.len()).sum();
        if self.hopeless || chunks > CHUNKS_MAX {
            return None;
        }
        let mut bytes = Vec::new();
        keys::encode(&self.groups, self.spec, &mut bytes);
        let keys = Place { offset, length: bytes.len() as u64 };
        let mut directory = Directory { keys, chunks: Vec::new() };
        let mut finer = self.rows;
        for (level, Level { chunks, cells, .. }) in self.levels.into_iter().enumerate() {
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
    /// Rows between these times, with the value kept of the latest.
    fn see(&mut self, earliest: i64, latest: i64, value: &[u8]) {
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

/// Sorts buckets; equal ones become one.
fn add_up(buckets: &mut Vec<(i16, f64)>) {
    buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
    buckets.dedup_by(|(bucket, count), (kept, sum)| {
        let same = bucket == kept;
        if same {
            *sum += *count;
        }
        same
    });
}

/// The columns that keys are made of: presence as truths, the sketched column as its band.
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
