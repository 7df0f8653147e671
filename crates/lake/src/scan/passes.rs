//! Aggregation in several passes over the same rows, for queries whose groups exceed the memory of one query. Each pass
//! aggregates the groups whose key hashes to it, and keeps at most as many of them as the answer may have.

use std::cmp::Ordering;

use arrow::array::{Array, AsArray, BooleanArray, Float64Array, ListArray, RecordBatch, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use arrow::datatypes::Float64Type;
use xxhash_rust::xxh3::xxh3_64;

use crate::batch::cells::Cells;
use crate::batch::datum::Datum;
use crate::batch::keys::{Groups, Key};
use crate::scan::plan_check::OutputOrder;
use tidewatch_store::StoreError;

/// Numbers of passes tried in turn when one pass exceeds the memory. The query fails if the last one does too.
pub(crate) const COUNTS: [u32; 2] = [8, 64];

/// Pass `index` of `count`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'a> {
    /// Groups with the same value of this key belong to the same pass.
    pub key: &'a Key,
    pub index: u32,
    pub count: u32,
}

impl Pass<'_> {
    /// The rows whose groups belong to this pass.
    pub fn rows(&self, batch: &RecordBatch) -> Result<BooleanBuffer, StoreError> {
        let mut values = Groups::new(std::slice::from_ref(self.key));
        let mut of_rows = Vec::new();
        values.assign(batch, &mut of_rows)?;
        let inside: Vec<bool> = (0..values.len()).map(|value| self.contains(values.value(value, 0))).collect();
        Ok(of_rows.into_iter().map(|value| inside[value as usize]).collect())
    }

    /// The batch reduced to the rows of this pass.
    pub fn filter(&self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        let rows = BooleanArray::new(self.rows(batch)?, None);
        filter_record_batch(batch, &rows).map_err(StoreError::internal("filter rows"))
    }

    fn contains(&self, value: Option<&Datum>) -> bool {
        let hash = match value {
            None => 0,
            Some(Datum::Bytes(bytes)) => xxh3_64(bytes),
            Some(Datum::U64(number)) => xxh3_64(&number.to_le_bytes()),
            Some(Datum::I64(number)) => xxh3_64(&number.to_le_bytes()),
            // 0.0 and -0.0 are the same value.
            Some(Datum::F64(number)) => xxh3_64(&(number + 0.0).to_bits().to_le_bytes()),
        };
        // The lower bits choose slots in hash tables.
        (hash >> 32) as u32 % self.count == self.index
    }
}

/// The key by which groups are assigned to passes. A time bucket is not used: it has few values.
pub(crate) fn partition_key(keys: &[Key]) -> Option<&Key> {
    keys.iter().find(|key| !matches!(key, Key::TimeBucket { .. }))
}

/// A column of an answer.
enum Output<'a> {
    Cells(Cells<'a>),
    /// Quantiles.
    List(&'a ListArray, &'a Float64Array),
}

impl<'a> Output<'a> {
    fn of(array: &'a dyn Array) -> Result<Output<'a>, StoreError> {
        let Some(list) = array.as_list_opt::<i32>() else { return Ok(Output::Cells(Cells::of(array)?)) };
        let values = list.values().as_primitive_opt::<Float64Type>();
        let why = || StoreError::Internal { what: "put groups together", why: "a list is not of numbers".to_owned() };
        Ok(Output::List(list, values.ok_or_else(why)?))
    }

    /// Compares two rows; nulls sort first.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        match self {
            Output::Cells(cells) => cells.compare(a, b),
            Output::List(list, values) => {
                let of = |row: usize| {
                    let offsets = list.value_offsets();
                    list.is_valid(row).then(|| &values.values()[offsets[row] as usize..offsets[row + 1] as usize])
                };
                match (of(a), of(b)) {
                    (Some(a), Some(b)) => {
                        let first = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
                        first.unwrap_or_else(|| a.len().cmp(&b.len()))
                    }
                    (a, b) => a.is_some().cmp(&b.is_some()),
                }
            }
        }
    }
}

/// Merges the answers of the passes: by the requested order, then all keys ascending. Applies offset, then limit.
pub(crate) fn merge_answers(
    answers: Vec<RecordBatch>,
    keys: usize,
    order: &[OutputOrder],
    (offset, limit): (usize, usize),
) -> Result<RecordBatch, StoreError> {
    let internal = || StoreError::internal("put groups together");
    let Some(first) = answers.first() else {
        return Err(StoreError::Internal { what: "put groups together", why: "there was no pass".to_owned() });
    };
    let all = concat_batches(first.schema_ref(), &answers).map_err(internal())?;
    drop(answers);
    let requested = order.iter().map(|OutputOrder { output, descending }| (*output, *descending));
    let columns: Vec<(Output<'_>, bool)> = requested
        .chain((0..keys).map(|key| (key, false)))
        .map(|(column, descending)| Ok((Output::of(all.column(column).as_ref())?, descending)))
        .collect::<Result<_, StoreError>>()?;
    let mut rows: Vec<u32> = (0..all.num_rows() as u32).collect();
    let order = |a: &u32, b: &u32| {
        let orders = columns.iter().map(|(column, descending)| {
            let order = column.compare(*a as usize, *b as usize);
            if *descending { order.reverse() } else { order }
        });
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    rows.sort_unstable_by(order);
    rows.truncate(offset.saturating_add(limit));
    rows.drain(..offset.min(rows.len()));
    take_record_batch(&all, &UInt32Array::from(rows)).map_err(internal())
}
