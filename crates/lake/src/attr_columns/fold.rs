//! Folds extra columns back into the encoded columns.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};
use tidewatch_domain::model::{AnyValue, KeyValue};
use tidewatch_domain::wire;

use super::pairs::{self, Pair};
use super::{AttrColumn, AttrColumns, ENCODED};
use tidewatch_store::StoreError;

impl AttrColumns {
    /// Converts rows of the part to rows of the table: folds the extra columns into the encoded columns of `batch`. All
    /// extra columns of an encoded column must be in `batch`; otherwise the result is [`StoreError::Internal`].
    pub fn fold(&self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        if self.is_empty() {
            return Ok(batch.clone());
        }
        let schema = batch.schema_ref();
        let mut columns: Vec<(Arc<Field>, ArrayRef)> = Vec::new();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            if self.columns.iter().any(|column| column.name == *field.name()) {
                continue;
            }
            let array = match ENCODED.contains(&field.name().as_str()) {
                true => self.whole(batch, field.name(), array)?,
                false => Arc::clone(array),
            };
            columns.push((Arc::clone(field), array));
        }
        let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        RecordBatch::try_new_with_options(schema, arrays, &options)
            .map_err(StoreError::internal("put attributes together"))
    }

    fn whole(&self, batch: &RecordBatch, encoded: &str, rest: &ArrayRef) -> Result<ArrayRef, StoreError> {
        let open = |column: &AttrColumn| -> Result<(String, Values), StoreError> {
            let array = batch.column_by_name(&column.name).and_then(values);
            let missing = || StoreError::Internal {
                what: "put attributes together",
                why: format!("{} was not read", column.name),
            };
            Ok((column.key.clone(), array.ok_or_else(missing)?))
        };
        let extra = self.of_column(encoded).map(open).collect::<Result<Vec<_>, _>>()?;
        if extra.is_empty() {
            return Ok(Arc::clone(rest));
        }
        let rest = rest.as_binary::<i32>();
        let mut ends = Vec::with_capacity(rest.len() + 1);
        ends.push(0);
        let mut bytes = Vec::with_capacity(rest.value_data().len() * 2);
        let mut list = Vec::new();
        for row in 0..rest.len() {
            write_row(&extra, row, rest.value(row), &mut list, &mut bytes);
            let end = i32::try_from(bytes.len());
            ends.push(
                end.map_err(|_| StoreError::Budget("the attributes of one batch are larger than 2 GiB".to_owned()))?,
            );
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Ok(Arc::new(BinaryArray::new(offsets, Buffer::from(bytes), rest.nulls().cloned())))
    }
}

/// Writes one row's attributes in the order of their keys.
fn write_row<'a>(extra: &[(String, Values)], row: usize, rest: &'a [u8], list: &mut Vec<Pair<'a>>, out: &mut Vec<u8>) {
    // A row that is not encoded like ours was not split: it has no extra values.
    if !pairs::read(rest, list) {
        out.extend_from_slice(rest);
        return;
    }
    let mut next = 0;
    for (key, values) in extra {
        let Some(value) = values.get(row) else { continue };
        while let Some(pair) = list.get(next)
            && pair.key < key.as_bytes()
        {
            out.extend_from_slice(pair.whole);
            next += 1;
        }
        wire::encode_attributes(&[KeyValue { key, value }], out);
    }
    list[next..].iter().for_each(|pair| out.extend_from_slice(pair.whole));
}

/// The values of an extra column, in any type that the reader returns.
enum Values {
    Text(StringArray),
    Dictionary(DictionaryArray<Int32Type>, StringArray),
    Int(Int64Array),
}

fn values(array: &ArrayRef) -> Option<Values> {
    match array.data_type() {
        DataType::Utf8 => array.as_string_opt().cloned().map(Values::Text),
        DataType::Int64 => array.as_primitive_opt::<Int64Type>().cloned().map(Values::Int),
        DataType::Dictionary(_, _) => {
            let array = array.as_dictionary_opt::<Int32Type>()?.clone();
            let strings = array.values().as_string_opt().cloned()?;
            Some(Values::Dictionary(array, strings))
        }
        _ => None,
    }
}

impl Values {
    fn get(&self, row: usize) -> Option<AnyValue<'_>> {
        match self {
            Values::Text(array) => array.is_valid(row).then(|| AnyValue::Str(array.value(row))),
            Values::Int(array) => array.is_valid(row).then(|| AnyValue::Int(array.value(row))),
            Values::Dictionary(array, strings) => array.key(row).map(|key| AnyValue::Str(strings.value(key))),
        }
    }
}
