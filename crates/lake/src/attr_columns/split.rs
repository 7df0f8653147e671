//! Encoded attributes to extra columns, on the way into a part.
//!
//! Texts become dictionaries where rows lie in memory: a part's writer numbers them anyway, and looks at each only once
//! a batch. A column that rows share (a dictionary, see [`tidewatch_store::memory_schema`]) is split once per value: rows keep their
//! numbers, and each extra column becomes a dictionary with the same numbers.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, DictionaryArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};

use super::rows;
use super::{AttrKey, ENCODED};
use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, arrow_schema, memory_schema};

/// Splits batches of a table into what one part holds.
pub struct Splitter {
    /// By encoded column, then key.
    keys: Vec<AttrKey>,
    /// By key: some row has it in the encoded column still.
    left_behind: Vec<bool>,
    schema: SchemaRef,
    plain_schema: SchemaRef,
    in_memory: bool,
    /// The values of shared columns that were split last, by encoded column.
    shared: [Option<SharedSplit>; ENCODED.len()],
}

/// The values of a shared column, before and after.
struct SharedSplit {
    values: ArrayRef,
    rest: ArrayRef,
    extra: Vec<ArrayRef>,
}

impl Splitter {
    /// `keys` as [`super::choose`] gives them. `in_memory`: batches are as rows lie in memory, shared columns as
    /// dictionaries; else as in parts.
    pub fn new(table: Table, keys: Vec<AttrKey>, in_memory: bool) -> Splitter {
        let extra = |in_memory: bool| {
            let field = move |key: &AttrKey| {
                let kind = if key.is_int { DataType::Int64 } else { DataType::Utf8 };
                let is_shared = table.column(key.encoded).is_some_and(|(_, column)| column.shared);
                // Texts come as numbers, whether or not their rows share them.
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
        let left_behind = vec![false; keys.len()];
        Splitter { left_behind, keys, schema, plain_schema, in_memory, shared: [None, None] }
    }

    /// The table's columns, then the extra ones, as [`Splitter::split`] gives them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The same without dictionaries: what a part's readers shall see.
    pub fn plain_schema(&self) -> &SchemaRef {
        &self.plain_schema
    }

    /// Some row has these keys in the encoded column still; by key.
    pub fn leave_behind(&mut self, keys: &[bool]) {
        self.left_behind.iter_mut().zip(keys).for_each(|(left, more)| *left |= *more);
    }

    /// For the file metadata [`super::INCOMPLETE`], once everything is split.
    pub fn incomplete(&self) -> String {
        let numbers =
            self.left_behind.iter().enumerate().filter(|(_, left)| **left).map(|(number, _)| number.to_string());
        numbers.collect::<Vec<_>>().join(",")
    }

    /// Rows of the table to rows of [`Splitter::schema`].
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
            let left_behind = &mut self.left_behind[first..first + count];
            let (rest, split) = match batch.column(index).as_dictionary_opt::<Int32Type>() {
                Some(shared) => split_shared(shared, keys, left_behind, &mut self.shared[number]),
                None => split_column(batch.column(index).as_binary(), keys, left_behind, self.in_memory),
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

/// What stays encoded, and the extra columns, as dictionaries.
fn split_shared(
    column: &DictionaryArray<Int32Type>,
    keys: &[AttrKey],
    left_behind: &mut [bool],
    last: &mut Option<SharedSplit>,
) -> (ArrayRef, Vec<ArrayRef>) {
    // Batches that are gathered from one memtable have one list of values.
    let known = last.take_if(|last| !Arc::ptr_eq(&last.values, column.values()));
    drop(known);
    let split = last.get_or_insert_with(|| {
        let (rest, extra) = split_column(column.values().as_binary(), keys, left_behind, false);
        SharedSplit { values: Arc::clone(column.values()), rest, extra }
    });
    // There are as many values as before: the rows' numbers need no check.
    let numbered = |values: &ArrayRef| -> ArrayRef { Arc::new(column.with_values(Arc::clone(values))) };
    (numbered(&split.rest), split.extra.iter().map(numbered).collect())
}

/// What stays encoded, and the extra columns.
fn split_column(
    encoded: &BinaryArray,
    keys: &[AttrKey],
    left_behind: &mut [bool],
    as_numbers: bool,
) -> (ArrayRef, Vec<ArrayRef>) {
    let split = rows::split(encoded, keys, as_numbers);
    left_behind.iter_mut().zip(split.left_behind).for_each(|(left, more)| *left |= more);
    (Arc::new(split.rest), split.extra)
}
