//! Splits encoded attributes into extra columns when a part is written.
//!
//! Text becomes dictionaries when rows are in memory: a part's writer numbers values anyway, and reads each only once
//! per batch. A column whose values rows share (a dictionary, see [`tidewatch_store::memory_schema`]) is split once per
//! value: rows keep their indices, and each extra column becomes a dictionary with the same indices.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, DictionaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};

use super::rows;
use super::{AttrKey, ENCODED};
use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, arrow_schema, memory_schema};

/// Splits batches of a table into the columns of one part.
pub struct Splitter {
    /// By encoded column, then key.
    keys: Vec<AttrKey>,
    /// By key: whether some row still has the key in the encoded column.
    is_incomplete: Vec<bool>,
    schema: SchemaRef,
    plain_schema: SchemaRef,
    in_memory: bool,
    /// The values of shared columns that were split last, by encoded column.
    shared: [Option<SharedSplit>; ENCODED.len()],
}

/// The values of a shared column, before and after splitting.
struct SharedSplit {
    values: ArrayRef,
    rest: ArrayRef,
    extra: Vec<ArrayRef>,
}

impl Splitter {
    /// A splitter for the extra columns `keys`, see [`super::choose`]. `in_memory`: batches have the in-memory schema,
    /// with shared columns as dictionaries; otherwise the schema of parts.
    pub fn new(table: Table, keys: Vec<AttrKey>, in_memory: bool) -> Splitter {
        let extra = |in_memory: bool| {
            let field = move |key: &AttrKey| {
                let kind = if key.is_int { DataType::Int64 } else { DataType::Utf8 };
                let is_shared = table.column(key.encoded).is_some_and(|(_, column)| column.is_dictionary);
                // Text becomes a dictionary, whether or not rows share values.
                let kind = if in_memory && (is_shared || !key.is_int) { dictionary_of(kind) } else { kind };
                Arc::new(Field::new(key.column(), kind, true))
            };
            keys.iter().map(field).collect::<Vec<_>>()
        };
        let schema = |table: SchemaRef, extra: Vec<Arc<Field>>| {
            Arc::new(Schema::new(table.fields().iter().cloned().chain(extra).collect::<Vec<_>>()))
        };
        let plain_schema = schema(arrow_schema(table), extra(false));
        let schema = if in_memory { schema(memory_schema(table), extra(true)) } else { Arc::clone(&plain_schema) };
        let is_incomplete = vec![false; keys.len()];
        Splitter { is_incomplete, keys, schema, plain_schema, in_memory, shared: [None, None] }
    }

    /// The schema of split batches: the table's columns, then the extra columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The same schema without dictionaries, which is stored in the part's file.
    pub fn plain_schema(&self) -> &SchemaRef {
        &self.plain_schema
    }

    /// Marks keys as incomplete, in addition to those that splitting finds. `keys`: a flag per key.
    pub fn mark_incomplete(&mut self, keys: &[bool]) {
        self.is_incomplete.iter_mut().zip(keys).for_each(|(left, more)| *left |= *more);
    }

    /// The value of the metadata key [`super::INCOMPLETE`], after all rows were split.
    pub fn incomplete(&self) -> String {
        let numbers =
            self.is_incomplete.iter().enumerate().filter(|(_, left)| **left).map(|(number, _)| number.to_string());
        numbers.collect::<Vec<_>>().join(",")
    }

    /// Converts rows of the table to rows of [`Splitter::schema`]. Fails when a column does not have the type of the
    /// schema.
    pub fn split(&mut self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        let mut columns = batch.columns().to_vec();
        let mut extra = Vec::new();
        for (number, encoded) in ENCODED.into_iter().enumerate() {
            let first = self.keys.partition_point(|key| key.encoded < encoded);
            let count = self.keys[first..].iter().take_while(|key| key.encoded == encoded).count();
            let Ok(index) = batch.schema_ref().index_of(encoded) else { continue };
            if count == 0 {
                continue;
            }
            let keys = &self.keys[first..first + count];
            let is_incomplete = &mut self.is_incomplete[first..first + count];
            let (rest, split) = match batch.column(index).as_dictionary_opt::<Int32Type>() {
                Some(shared) => split_shared(shared, keys, is_incomplete, &mut self.shared[number]),
                None => split_column(batch.column(index).as_binary(), keys, is_incomplete, self.in_memory),
            };
            columns[index] = rest;
            extra.extend(split);
        }
        columns.extend(extra);
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(StoreError::internal("split attributes"))
    }
}

fn dictionary_of(kind: DataType) -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(kind))
}

/// Splits a dictionary column: returns the attributes that stay encoded, and the extra columns, as dictionaries.
fn split_shared(
    column: &DictionaryArray<Int32Type>,
    keys: &[AttrKey],
    is_incomplete: &mut [bool],
    last: &mut Option<SharedSplit>,
) -> (ArrayRef, Vec<ArrayRef>) {
    // Batches gathered from one memtable share one list of values, which is split once.
    let known = last.take_if(|last| !Arc::ptr_eq(&last.values, column.values()));
    drop(known);
    let split = last.get_or_insert_with(|| {
        let (rest, extra) = split_column(column.values().as_binary(), keys, is_incomplete, false);
        SharedSplit { values: Arc::clone(column.values()), rest, extra }
    });
    // There are as many values as before: the rows' indices need no check.
    let numbered = |values: &ArrayRef| -> ArrayRef { Arc::new(column.with_values(Arc::clone(values))) };
    (numbered(&split.rest), split.extra.iter().map(numbered).collect())
}

/// Splits a plain column: returns the attributes that stay encoded, and the extra columns.
fn split_column(
    encoded: &BinaryArray,
    keys: &[AttrKey],
    is_incomplete: &mut [bool],
    as_numbers: bool,
) -> (ArrayRef, Vec<ArrayRef>) {
    let split = rows::split(encoded, keys, as_numbers);
    is_incomplete.iter_mut().zip(split.is_incomplete).for_each(|(left, more)| *left |= more);
    (Arc::new(split.rest), split.extra)
}
