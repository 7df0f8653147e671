//! Reads the cells of one part into groups and states.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema};
use hashbrown::HashMap;

use super::super::passes::Pass;
use super::super::pool::check_deadline;
use super::rollup_plan::{CellFilter, RollupPlan, passing_keys};
use crate::batch::keys::{Groups, Key, bucket};
use crate::part::Part;
use crate::part::footers::Rollup;
use crate::rollup::chunk::{Chunk, Sketches};
use crate::rollup::directory::Directory;
use crate::rollup::keys;
use crate::rollup::keys::Keys;
use crate::scan::aggregators::Measure;
use crate::scan::aggregators::State;
use crate::scan::plan_check::{CheckedPlan, Test};
use tidewatch_store::StoreError;
use tidewatch_store::rollup::levels::{Cover, WIDTHS};

/// The selected cells of a chunk, each with its group.
pub(crate) type SelectedCells = Vec<(u32, u32)>;

/// Reads a part's cells for one plan.
pub(crate) struct CellReader<'a> {
    rollup_plan: &'a RollupPlan,
    part: &'a Arc<Part>,
    directory: &'a Directory,
    cover: &'a Cover,
    keys: &'a Keys,
    passing: BooleanBuffer,
    tests: Vec<CellFilter>,
    /// By key: keys of the same class belong to the same group in the same bucket.
    classes: Vec<u32>,
    /// Groups by class and start of bucket.
    groups: HashMap<(u32, i64), u32>,
}

/// A chunk whose columns are decoded on first use.
pub(crate) struct CellColumns<'a> {
    pub chunk: Chunk<'a>,
    pub rollup_plan: &'a RollupPlan,
    pub keys: &'a Keys,
    part: &'a Part,
    rows: OnceCell<Vec<u64>>,
    weights: OnceCell<Vec<f64>>,
    sketches: OnceCell<Sketches<'a>>,
}

impl<'a> CellReader<'a> {
    pub fn open(
        rollup_plan: &'a RollupPlan,
        plan: &CheckedPlan,
        (group_keys, tests): (&[Key], &[Test]),
        pass: Option<Pass<'_>>,
        part: &'a Arc<Part>,
        (rollup, cover): (&'a Rollup, &'a Cover),
    ) -> Result<CellReader<'a>, StoreError> {
        let directory = &rollup.directory;
        let keys = match rollup.keys.get() {
            Some(keys) => keys,
            None => {
                let bytes = part.read(directory.keys)?;
                let keys = keys::decode(&bytes, plan.table, rollup_plan.spec).ok_or_else(|| damaged(part))??;
                rollup.keys.get_or_init(|| keys)
            }
        };
        let mut passing = passing_keys(plan, keys)?;
        if let Some(pass) = pass {
            passing = &passing & &pass.rows(&keys.batch)?;
        }
        let tests = tests.iter().map(|test| CellFilter::of(rollup_plan, test, keys)).collect::<Result<_, _>>()?;
        let is_column = |key: &&Key| matches!(key, Key::Column(_) | Key::OneOf { .. });
        let columns: Vec<Key> = group_keys.iter().filter(is_column).cloned().collect();
        let mut classes = Vec::new();
        Groups::new(&columns).assign(&keys.batch, &mut classes)?;
        Ok(CellReader { rollup_plan, part, directory, cover, keys, passing, tests, classes, groups: HashMap::new() })
    }

    /// Calls `visit` with every chunk and its selected cells. Adds new groups to `groups`.
    pub fn each(
        mut self,
        groups: &mut Groups,
        deadline: Instant,
        mut visit: impl FnMut(&mut Groups, &CellColumns<'_>, &SelectedCells, &[CellFilter]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut counted = Vec::new();
        for &(level, from, to) in &self.cover.cells {
            for place in self.directory.chunks.iter().filter(|chunk| chunk.level == level) {
                if !place.overlaps(from, to) {
                    continue;
                }
                check_deadline(deadline)?;
                let bytes = self.part.read(place.place)?;
                let chunk =
                    Chunk::decode(&bytes, self.rollup_plan.spec, WIDTHS[level]).ok_or_else(|| damaged(self.part))?;
                if chunk.keys.iter().any(|key| *key as usize >= self.classes.len()) {
                    return Err(damaged(self.part));
                }
                self.count(&chunk, from..to, groups, &mut counted)?;
                if counted.is_empty() {
                    continue;
                }
                let columns = CellColumns {
                    chunk,
                    rollup_plan: self.rollup_plan,
                    keys: self.keys,
                    part: self.part,
                    rows: OnceCell::new(),
                    weights: OnceCell::new(),
                    sketches: OnceCell::new(),
                };
                visit(groups, &columns, &counted, &self.tests)?;
            }
        }
        Ok(())
    }

    /// Selects the cells of a chunk and finds their groups.
    fn count(
        &mut self,
        chunk: &Chunk<'_>,
        times: std::ops::Range<i64>,
        groups: &mut Groups,
        counted: &mut SelectedCells,
    ) -> Result<(), StoreError> {
        counted.clear();
        let mut new: Vec<(u32, i64)> = Vec::new();
        let mut unknown: HashMap<(u32, i64), u32> = HashMap::new();
        let mut last_bucket: Option<(i64, i64)> = None;
        let mut last: Option<((u32, i64), u32)> = None;
        for (cell, (&key, &start)) in chunk.keys.iter().zip(&chunk.starts).enumerate() {
            if !times.contains(&start) || !self.passing.value(key as usize) {
                continue;
            }
            let bucket_start = match (self.rollup_plan.bucket, last_bucket) {
                (None, _) => 0,
                (Some(_), Some((from, to))) if (from..to).contains(&start) => from,
                (Some((origin, width)), _) => {
                    let from = bucket(start, origin, width);
                    last_bucket = Some((from, from.saturating_add(width)));
                    from
                }
            };
            let place = (self.classes[key as usize], bucket_start);
            let group = match last {
                Some((known, group)) if known == place => group,
                _ => match self.groups.get(&place) {
                    Some(group) => *group,
                    // A temporary number above all groups, replaced below.
                    None => *unknown.entry(place).or_insert_with(|| {
                        new.push((key, bucket_start));
                        u32::MAX - (new.len() as u32 - 1)
                    }),
                },
            };
            last = Some((place, group));
            counted.push((cell as u32, group));
        }
        if new.is_empty() {
            return Ok(());
        }
        let mut made = Vec::new();
        groups.assign(&self.representatives(&new)?, &mut made)?;
        for (group, (key, start)) in made.iter().zip(&new) {
            self.groups.insert((self.classes[*key as usize], *start), *group);
        }
        let first_new = u32::MAX - (new.len() as u32 - 1);
        for (_, group) in counted.iter_mut().filter(|(_, group)| *group >= first_new) {
            *group = made[(u32::MAX - *group) as usize];
        }
        Ok(())
    }

    /// One row per new group: the key's columns, and the start of the bucket as `time`.
    fn representatives(&self, places: &[(u32, i64)]) -> Result<RecordBatch, StoreError> {
        let internal = StoreError::internal("read a roll-up");
        let indices: UInt32Array = places.iter().map(|(key, _)| *key).collect();
        let taken = self.keys.batch.columns().iter().map(|column| take(column, &indices, None));
        let mut arrays: Vec<ArrayRef> =
            taken.collect::<Result<_, _>>().map_err(StoreError::internal("read a roll-up"))?;
        arrays.push(Arc::new(places.iter().map(|(_, start)| *start).collect::<Int64Array>()));
        let mut fields: Vec<Arc<Field>> = self.keys.batch.schema().fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("time", DataType::Int64, false)));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(internal)
    }
}

fn damaged(part: &Part) -> StoreError {
    StoreError::Corrupt { path: part.path().to_path_buf(), why: "the roll-up cannot be read".to_owned() }
}

impl<'a> CellColumns<'a> {
    pub fn rows(&self) -> Result<&[u64], StoreError> {
        self.decoded(&self.rows, Chunk::rows).map(Vec::as_slice)
    }

    pub fn weights(&self) -> Result<&[f64], StoreError> {
        self.decoded(&self.weights, Chunk::weights).map(Vec::as_slice)
    }

    pub fn sketches(&self) -> Result<&Sketches<'a>, StoreError> {
        self.decoded(&self.sketches, Chunk::sketches)
    }

    pub fn latest(&self) -> Result<Vec<i64>, StoreError> {
        self.chunk.latest().ok_or_else(|| damaged(self.part))
    }

    pub fn earliest(&self) -> Result<Vec<i64>, StoreError> {
        self.chunk.earliest().ok_or_else(|| damaged(self.part))
    }

    pub fn latest_values(&self) -> Result<&'a [[u8; 16]], StoreError> {
        self.chunk.latest_values().ok_or_else(|| damaged(self.part))
    }

    pub fn sums(&self, name: &str) -> Result<Vec<f64>, StoreError> {
        let sum = self.rollup_plan.spec.sum(name);
        sum.and_then(|sum| self.chunk.sums(sum)).ok_or_else(|| self.damaged())
    }

    pub fn damaged(&self) -> StoreError {
        damaged(self.part)
    }

    fn decoded<'b, T>(
        &'b self,
        kept: &'b OnceCell<T>,
        decode: impl FnOnce(&Chunk<'a>) -> Option<T>,
    ) -> Result<&'b T, StoreError> {
        if kept.get().is_none() {
            let decoded = decode(&self.chunk).ok_or_else(|| self.damaged())?;
            let _ = kept.set(decoded);
        }
        kept.get().ok_or_else(|| self.damaged())
    }

    /// The column of the keys, null for keys whose rows lack it; `None` when no key lacks it.
    pub fn has_values(&self, name: &str) -> Option<&'_ dyn Array> {
        self.keys.batch.column_by_name(name).filter(|column| column.null_count() > 0).map(AsRef::as_ref)
    }
}

/// Adds the selected cells to the states of all measures.
pub(crate) fn add(
    measures: &[(Measure, Option<usize>)],
    states: &mut [State],
    columns: &CellColumns<'_>,
    counted: &SelectedCells,
    tests: &[CellFilter],
) -> Result<(), StoreError> {
    for (state, (measure, test)) in states.iter_mut().zip(measures) {
        state.add_cells(*measure, columns, counted, test.map(|test| &tests[test]))?;
    }
    Ok(())
}
