//! Dictionary columns of rows in memory ([`tidewatch_store::memory_schema`]): [`plain`] converts them to plain columns,
//! as results have them; [`DictionaryColumn`] merges the dictionaries of several batches, for parts.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanBufferBuilder, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions,
};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::compute::{interleave, take};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use xxhash_rust::xxh3::Xxh3Builder;

use crate::row_ranges::RowRange;

fn plain_field(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::Dictionary(_, value) => {
            Arc::new(Field::new(field.name(), value.as_ref().clone(), field.is_nullable()))
        }
        _ => Arc::clone(field),
    }
}

/// The schema with each dictionary column replaced by a plain column of its value type.
pub fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    let is_shared = |field: &FieldRef| matches!(field.data_type(), DataType::Dictionary(..));
    match schema.fields().iter().any(is_shared) {
        true => Arc::new(Schema::new(schema.fields().iter().map(plain_field).collect::<Vec<_>>())),
        false => Arc::clone(schema),
    }
}

/// The batch with each dictionary array replaced by a plain array. Other arrays are shared, not copied.
pub fn plain(batch: &RecordBatch) -> RecordBatch {
    let column = |array: &ArrayRef| match array.as_dictionary_opt::<Int32Type>() {
        Some(shared) => take(shared.values(), shared.keys(), None).expect("every key is that of a value"),
        None => Arc::clone(array),
    };
    let columns = batch.columns().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(plain_schema(batch.schema_ref()), columns, &options)
        .expect("the same rows, each column as its schema says")
}

/// The bytes of a dictionary value.
fn value(values: &dyn Array, number: usize) -> &[u8] {
    match values.as_string_opt::<i32>() {
        Some(strings) => strings.value(number).as_bytes(),
        None => values.as_binary::<i32>().value(number),
    }
}

/// One dictionary column of several batches, with each distinct value once.
pub struct DictionaryColumn<'b> {
    /// The dictionary indices, by batch.
    numbers: Vec<&'b Int32Array>,
    /// By batch, then dictionary index of the batch: the index in `values`.
    places: Vec<Vec<i32>>,
    values: ArrayRef,
}

impl<'b> DictionaryColumn<'b> {
    /// Merges the dictionaries of `pieces`, one array per batch. `None` when one of them is not a dictionary array.
    pub fn new(pieces: &[&'b dyn Array]) -> Result<Option<DictionaryColumn<'b>>, ArrowError> {
        let pieces = pieces.iter().map(|piece| piece.as_any().downcast_ref::<DictionaryArray<Int32Type>>());
        let Some(pieces) = pieces.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut known: HashMap<&[u8], i32, Xxh3Builder> = HashMap::default();
        // The first occurrence of each value.
        let mut first = Vec::new();
        let places = pieces.iter().enumerate().map(|(piece, shared)| {
            let values = shared.values();
            let place = |number: usize| {
                *known.entry(value(values.as_ref(), number)).or_insert_with(|| {
                    first.push((piece, number));
                    first.len() as i32 - 1
                })
            };
            (0..values.len()).map(place).collect()
        });
        let places = places.collect();
        let lists: Vec<&dyn Array> = pieces.iter().map(|shared| shared.values().as_ref()).collect();
        let values = interleave(&lists, &first)?;
        Ok(Some(DictionaryColumn { numbers: pieces.into_iter().map(DictionaryArray::keys).collect(), places, values }))
    }

    /// Gathers the cells of these ranges, which have `rows` rows in total. All gathered arrays share one dictionary.
    pub fn gather(&self, ranges: &[RowRange], rows: usize) -> Result<ArrayRef, ArrowError> {
        let mut numbers: Vec<i32> = Vec::with_capacity(rows);
        let nulls = self.nulls(ranges, rows);
        match self.values.len() {
            1 => numbers.resize(rows, 0),
            _ => ranges.iter().for_each(|RowRange { batch, rows }| {
                let places = &self.places[*batch];
                numbers
                    .extend(self.numbers[*batch].values()[rows.clone()].iter().map(|number| places[*number as usize]));
            }),
        }
        let numbers = Int32Array::new(ScalarBuffer::from(numbers), nulls);
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(numbers, Arc::clone(&self.values))?))
    }

    /// The nulls of these ranges; `None` when they have none.
    fn nulls(&self, ranges: &[RowRange], rows: usize) -> Option<NullBuffer> {
        if self.numbers.iter().all(|numbers| numbers.null_count() == 0) {
            return None;
        }
        let mut valid = BooleanBufferBuilder::new(rows);
        for RowRange { batch, rows } in ranges {
            match self.numbers[*batch].nulls() {
                Some(nulls) => valid.append_buffer(&nulls.inner().slice(rows.start, rows.len())),
                None => valid.append_n(rows.len(), true),
            }
        }
        Some(NullBuffer::new(valid.finish())).filter(|nulls| nulls.null_count() > 0)
    }
}
