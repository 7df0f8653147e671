//! Encoded attributes to extra columns, on the way into a part.
//!
//! A column that rows share (a dictionary, see [`crate::memory_schema`]) is split once per value: rows keep their
//! numbers, and each extra column becomes a dictionary with the same numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, RecordBatch};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};

use super::look_up::LookUp;
use super::pairs::{self, Raw};
use super::values::Values;
use super::{AttrKey, ENCODED};
use crate::tables::Table;
use crate::{StoreError, arrow_schema, memory_schema};

/// Splits batches of a table into what one part holds.
pub struct Splitter {
    /// By encoded column, then key.
    keys: Vec<AttrKey>,
    /// By key: some row has it in the encoded column still.
    left_behind: Vec<bool>,
    schema: SchemaRef,
    plain_schema: SchemaRef,
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
                let kind = if in_memory && is_shared { dictionary_of(kind) } else { kind };
                Arc::new(Field::new(key.column(), kind, true))
            };
            keys.iter().map(field).collect::<Vec<_>>()
        };
        let schema = |table: SchemaRef, extra: Vec<Arc<Field>>| {
            Arc::new(Schema::new(table.fields().iter().cloned().chain(extra).collect::<Vec<_>>()))
        };
        let plain_schema = schema(arrow_schema(table), extra(false));
        let schema = if in_memory { schema(memory_schema(table), extra(true)) } else { Arc::clone(&plain_schema) };
        Splitter { left_behind: vec![false; keys.len()], keys, schema, plain_schema, shared: [None, None] }
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
                Some(shared) => split_shared(shared, keys, left_behind, &mut self.shared[number])?,
                None => split_column(batch.column(index).as_binary(), keys, left_behind),
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
) -> Result<(ArrayRef, Vec<ArrayRef>), StoreError> {
    // Batches that are gathered from one memtable have one list of values.
    let known = last.take_if(|last| !Arc::ptr_eq(&last.values, column.values()));
    drop(known);
    let split = last.get_or_insert_with(|| {
        let (rest, extra) = split_column(column.values().as_binary(), keys, left_behind);
        SharedSplit { values: Arc::clone(column.values()), rest, extra }
    });
    let numbered = |values: &ArrayRef| -> Result<ArrayRef, StoreError> {
        let array = DictionaryArray::try_new(column.keys().clone(), Arc::clone(values));
        Ok(Arc::new(array.map_err(StoreError::internal("split attributes"))?))
    };
    Ok((numbered(&split.rest)?, split.extra.iter().map(numbered).collect::<Result<_, _>>()?))
}

/// What stays encoded, and the extra columns.
fn split_column(encoded: &BinaryArray, keys: &[AttrKey], left_behind: &mut [bool]) -> (ArrayRef, Vec<ArrayRef>) {
    // Texts are nearly always texts: they are checked all together, and one by one only if that fails.
    for checked in [false, true] {
        let mut rows = Rows::new(keys, checked);
        let rest = rows.split(encoded);
        let values = rows.values.into_iter().map(|values| values.finish(encoded.len()));
        if let Some(extra) = values.collect::<Option<Vec<_>>>() {
            left_behind.iter_mut().zip(rows.left_behind).for_each(|(left, more)| *left |= more);
            return (Arc::new(rest), extra);
        }
    }
    unreachable!("every text was checked")
}

struct Rows<'s> {
    keys: &'s [AttrKey],
    look_up: LookUp<'s>,
    left_behind: Vec<bool>,
    values: Vec<Values>,
    /// Texts that are not UTF-8 stay encoded.
    checked: bool,
}

impl<'s> Rows<'s> {
    fn new(keys: &'s [AttrKey], checked: bool) -> Rows<'s> {
        Rows {
            look_up: LookUp::new(keys),
            left_behind: vec![false; keys.len()],
            values: keys.iter().map(|key| Values::new(key.is_int)).collect(),
            keys,
            checked,
        }
    }

    /// What stays encoded.
    fn split(&mut self, encoded: &BinaryArray) -> BinaryArray {
        let mut ends = Vec::with_capacity(encoded.len() + 1);
        ends.push(0);
        let mut rest = Vec::new();
        let mut found = Vec::new();
        for (row, bytes) in encoded.iter().map(Option::unwrap_or_default).enumerate() {
            let start = rest.len();
            if self.row(bytes, &mut found, &mut rest) {
                found.iter().for_each(|(index, value): &(usize, Raw<'_>)| self.values[*index].push(row, *value));
            } else {
                rest.truncate(start);
                self.leave(bytes);
                rest.extend_from_slice(bytes);
            }
            ends.push(i32::try_from(rest.len()).expect("what is left is no longer than what was there"));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        BinaryArray::new(offsets, Buffer::from(rest), None)
    }

    /// One row: the values that leave it, and the pairs that stay. False when its pairs are not sorted by key, or are
    /// not what our encoder writes.
    fn row<'a>(&mut self, mut bytes: &'a [u8], found: &mut Vec<(usize, Raw<'a>)>, rest: &mut Vec<u8>) -> bool {
        found.clear();
        let mut last: (&[u8], Option<usize>) = (&[], None);
        let mut whole: &[u8] = &[];
        while !bytes.is_empty() {
            let Some((pair, after)) = pairs::pair(bytes) else { return false };
            let index = self.look_up.find(pair.key);
            // Keys with columns are sorted as their columns are.
            let order = match (last.1, index) {
                (Some(last), Some(index)) => last.cmp(&index),
                _ => last.0.cmp(pair.key),
            };
            if order.is_gt() {
                return false;
            }
            match (index, index.and_then(|index| self.fitting(index, pair.raw()))) {
                // A key that comes again stays, each time.
                (Some(index), _) if order.is_eq() => {
                    if found.pop_if(|(known, _)| *known == index).is_some() {
                        rest.extend_from_slice(whole);
                    }
                    rest.extend_from_slice(pair.whole);
                    self.left_behind[index] = true;
                }
                (Some(index), Some(value)) => found.push((index, value)),
                (index, _) => {
                    rest.extend_from_slice(pair.whole);
                    index.into_iter().for_each(|index| self.left_behind[index] = true);
                }
            }
            last = (pair.key, index);
            whole = pair.whole;
            bytes = after;
        }
        true
    }

    fn fitting<'a>(&self, index: usize, value: Option<Raw<'a>>) -> Option<Raw<'a>> {
        value.filter(|value| match value {
            Raw::Int(_) => self.keys[index].is_int,
            Raw::Text(text) => !self.keys[index].is_int && (!self.checked || str::from_utf8(text).is_ok()),
        })
    }

    /// A row that stays as it is. What cannot be read may hold any key.
    fn leave(&mut self, bytes: &[u8]) {
        let mut list = Vec::new();
        let readable = pairs::read(bytes, &mut list);
        for (index, key) in self.keys.iter().enumerate() {
            self.left_behind[index] |= !readable || list.iter().any(|pair| pair.key == key.key.as_bytes());
        }
    }
}
