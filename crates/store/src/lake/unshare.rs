//! Shared columns of rows in memory ([`crate::memory_schema`]): as answers have them, every row with its own copy
//! ([`plain`]), and as a part is written, with one list of values for all batches ([`SharedColumn`]).

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions,
};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Schema, SchemaRef};

fn is_shared(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(_, value) if **value == DataType::Binary)
}

fn plain_field(field: &FieldRef) -> FieldRef {
    match is_shared(field.data_type()) {
        true => Arc::new(Field::new(field.name(), DataType::Binary, field.is_nullable())),
        false => Arc::clone(field),
    }
}

/// The schema without shared columns.
pub fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    match schema.fields().iter().any(|field| is_shared(field.data_type())) {
        true => Arc::new(Schema::new(schema.fields().iter().map(plain_field).collect::<Vec<_>>())),
        false => Arc::clone(schema),
    }
}

/// The batch without shared columns.
pub fn plain(batch: &RecordBatch) -> RecordBatch {
    let column = |array: &ArrayRef| match is_shared(array.data_type()) {
        true => values(array, 0..array.len()),
        false => Arc::clone(array),
    };
    let columns = batch.columns().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(plain_schema(batch.schema_ref()), columns, &options)
        .expect("the same rows, each column as its schema says")
}

fn values(array: &ArrayRef, rows: std::ops::Range<usize>) -> ArrayRef {
    let Some((numbers, values)) = open(array.as_ref()) else { return Arc::clone(array) };
    let value = |row: usize| values.value(numbers.value(row) as usize);
    let bytes = rows.clone().map(|row| value(row).len()).sum();
    let mut array = arrow::array::BinaryBuilder::with_capacity(rows.len(), bytes);
    rows.for_each(|row| array.append_value(value(row)));
    let array: BinaryArray = array.finish();
    Arc::new(array)
}

/// The numbers and values of a shared column.
fn open(array: &dyn Array) -> Option<(&Int32Array, &BinaryArray)> {
    let dictionary = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>()?;
    Some((dictionary.keys(), dictionary.values().as_binary_opt::<i32>()?))
}

/// One shared column of several batches: what is equal is there once.
pub struct SharedColumn<'b> {
    /// By batch.
    numbers: Vec<&'b Int32Array>,
    /// By batch, then number: the place in `values`.
    places: Vec<Vec<i32>>,
    values: ArrayRef,
}

impl<'b> SharedColumn<'b> {
    /// `None` when the column is not shared.
    pub fn new(pieces: &[&'b dyn Array]) -> Option<SharedColumn<'b>> {
        let pieces: Vec<_> = pieces.iter().map(|piece| open(*piece)).collect::<Option<_>>()?;
        let mut known: HashMap<&[u8], i32, xxhash_rust::xxh3::Xxh3Builder> = HashMap::default();
        let mut values = Vec::new();
        let mut place = |value: &'b [u8]| {
            *known.entry(value).or_insert_with(|| {
                values.push(value);
                values.len() as i32 - 1
            })
        };
        let places = pieces.iter().map(|(_, values)| (0..values.len()).map(|n| place(values.value(n))).collect());
        let places = places.collect();
        let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
        Some(SharedColumn { numbers: pieces.into_iter().map(|(numbers, _)| numbers).collect(), places, values })
    }

    /// The cells at these places (batch, row); all that is gathered has the same list of values.
    pub fn gather(&self, places: &[(usize, usize)]) -> Result<ArrayRef, arrow::error::ArrowError> {
        let number = |(batch, row): &(usize, usize)| self.places[*batch][self.numbers[*batch].value(*row) as usize];
        let numbers = Int32Array::from_iter_values(places.iter().map(number));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(numbers, Arc::clone(&self.values))?))
    }
}
