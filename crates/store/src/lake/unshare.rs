//! Shared columns of rows in memory ([`crate::memory_schema`]) as parts and answers have them: every row with its own copy.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch, RecordBatchOptions};
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
    let places: Vec<(usize, usize)> = rows.map(|row| (0, row)).collect();
    gather(&[array.as_ref()], &places).unwrap_or_else(|| Arc::clone(array))
}

/// The cells of a shared column at these places (piece, row); `None`: it is not shared.
pub fn gather(pieces: &[&dyn Array], places: &[(usize, usize)]) -> Option<ArrayRef> {
    let open = |piece: &&'_ dyn Array| -> Option<_> {
        let dictionary = piece.as_any().downcast_ref::<arrow::array::DictionaryArray<Int32Type>>()?;
        let values = dictionary.values().as_binary_opt::<i32>()?;
        // Rows are few beside the bytes they stand for.
        Some((dictionary.keys().clone(), values.clone()))
    };
    let pieces: Vec<_> = pieces.iter().map(open).collect::<Option<_>>()?;
    let value = |(piece, row): &(usize, usize)| {
        let (keys, values) = &pieces[*piece];
        values.value(keys.value(*row) as usize)
    };
    let bytes = places.iter().map(|place| value(place).len()).sum();
    let mut array = arrow::array::BinaryBuilder::with_capacity(places.len(), bytes);
    places.iter().for_each(|place| array.append_value(value(place)));
    let array: BinaryArray = array.finish();
    Some(Arc::new(array))
}
