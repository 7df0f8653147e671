//! Encoded attributes to extra columns, on the way into a part.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Int64Array, Int64Builder, RecordBatch, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::pairs::{self, Pair, Plain};
use super::{AttrKey, ENCODED};
use crate::tables::Table;
use crate::{StoreError, arrow_schema};

/// Splits batches of a table into what one part holds.
pub struct Splitter {
    /// By encoded column, then key.
    keys: Vec<AttrKey>,
    /// By key: some row has it in the encoded column still.
    left_behind: Vec<bool>,
    schema: SchemaRef,
}

impl Splitter {
    /// `keys` as [`super::choose`] gives them.
    pub fn new(table: Table, keys: Vec<AttrKey>) -> Splitter {
        let extra = keys.iter().map(|key| {
            let kind = if key.is_int { DataType::Int64 } else { DataType::Utf8 };
            Arc::new(Field::new(key.column(), kind, true))
        });
        let fields: Vec<_> = arrow_schema(table).fields().iter().cloned().chain(extra).collect();
        Splitter { left_behind: vec![false; keys.len()], keys, schema: Arc::new(Schema::new(fields)) }
    }

    /// The table's columns, then the extra ones.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
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
        for encoded in ENCODED {
            let first = self.keys.partition_point(|key| key.encoded < encoded);
            let count = self.keys[first..].iter().take_while(|key| key.encoded == encoded).count();
            let Ok(index) = batch.schema_ref().index_of(encoded) else { continue };
            if count == 0 {
                continue;
            }
            let range = first..first + count;
            let mut rows = Rows::new(&self.keys[range.clone()], &mut self.left_behind[range]);
            let (rest, split) = rows.split(batch.column(index).as_binary());
            columns[index] = Arc::new(rest);
            extra.extend(split);
        }
        columns.extend(extra);
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(StoreError::internal("split attributes"))
    }
}

/// The values of one extra column.
enum Values {
    Text(StringBuilder),
    Int(Int64Builder),
}

impl Values {
    fn push(&mut self, value: Option<Plain<'_>>) {
        match (self, value) {
            (Values::Text(values), Some(Plain::Text(text))) => values.append_value(text),
            (Values::Int(values), Some(Plain::Int(number))) => values.append_value(number),
            (Values::Text(values), _) => values.append_null(),
            (Values::Int(values), _) => values.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Values::Text(mut values) => Arc::new(values.finish()) as Arc<StringArray>,
            Values::Int(mut values) => Arc::new(values.finish()) as Arc<Int64Array>,
        }
    }
}

struct Rows<'s> {
    keys: &'s [AttrKey],
    left_behind: &'s mut [bool],
    values: Vec<Values>,
}

impl<'s> Rows<'s> {
    fn new(keys: &'s [AttrKey], left_behind: &'s mut [bool]) -> Rows<'s> {
        let values = |key: &AttrKey| match key.is_int {
            true => Values::Int(Int64Builder::new()),
            false => Values::Text(StringBuilder::new()),
        };
        Rows { keys, left_behind, values: keys.iter().map(values).collect() }
    }

    /// What stays encoded, and the extra columns.
    fn split(&mut self, encoded: &BinaryArray) -> (BinaryArray, Vec<ArrayRef>) {
        let mut ends = Vec::with_capacity(encoded.len() + 1);
        ends.push(0);
        let mut rest = Vec::new();
        let mut list = Vec::new();
        for bytes in encoded.iter().map(Option::unwrap_or_default) {
            let readable = pairs::read(bytes, &mut list);
            if readable && list.is_sorted_by_key(|pair| pair.key) {
                self.row(&list, &mut rest);
            } else {
                self.leave(&list, readable);
                rest.extend_from_slice(bytes);
            }
            ends.push(i32::try_from(rest.len()).expect("what is left is no longer than what was there"));
        }
        let offsets = arrow::buffer::OffsetBuffer::new(arrow::buffer::ScalarBuffer::from(ends));
        let rest = BinaryArray::new(offsets, arrow::buffer::Buffer::from(rest), None);
        (rest, std::mem::take(&mut self.values).into_iter().map(Values::finish).collect())
    }

    /// One row, its pairs sorted by key.
    fn row(&mut self, list: &[Pair<'_>], rest: &mut Vec<u8>) {
        let mut next = 0;
        for (index, key) in self.keys.iter().enumerate() {
            while let Some(pair) = list.get(next)
                && pair.key < key.key.as_bytes()
            {
                rest.extend_from_slice(pair.whole);
                next += 1;
            }
            let same = list[next..].iter().take_while(|pair| pair.key == key.key.as_bytes()).count();
            let value = match (list.get(next).and_then(Pair::plain), key.is_int) {
                (Some(Plain::Int(number)), true) if same == 1 => Some(Plain::Int(number)),
                (Some(Plain::Text(text)), false) if same == 1 => Some(Plain::Text(text)),
                _ => None,
            };
            if value.is_none() {
                list[next..next + same].iter().for_each(|pair| rest.extend_from_slice(pair.whole));
                self.left_behind[index] |= same > 0;
            }
            next += same;
            self.values[index].push(value);
        }
        list[next..].iter().for_each(|pair| rest.extend_from_slice(pair.whole));
    }

    /// A row that stays as it is. What cannot be read may hold any key.
    fn leave(&mut self, list: &[Pair<'_>], readable: bool) {
        for (index, key) in self.keys.iter().enumerate() {
            self.left_behind[index] |= !readable || list.iter().any(|pair| pair.key == key.key.as_bytes());
            self.values[index].push(None);
        }
    }
}
