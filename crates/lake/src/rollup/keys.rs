//! The keys of cells: a table with one value per dimension, stored in the part.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};

use super::varint::{Reader, put, put_signed};
use crate::batch::datum::Datum;
use crate::batch::keys::{Groups, column_of};
use tidewatch_store::StoreError;
use tidewatch_store::rollup::spec::{Dim, Spec};
use tidewatch_store::tables::{Kind, Table};

/// The number of dimensions of a key: the project, those of the spec, and the band of the sketched column.
pub fn dimensions(spec: &Spec) -> usize {
    1 + spec.dims.len() + usize::from(!spec.bands.is_empty())
}

/// Appends the table of all keys: for each dimension its distinct values, then one code per key (0: null).
pub fn encode(groups: &Groups, spec: &Spec, into: &mut Vec<u8>) {
    put(into, groups.len() as u64);
    for dimension in 0..dimensions(spec) {
        let mut known: HashMap<Vec<u8>, u64> = HashMap::new();
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for key in 0..groups.len() {
            let code = match groups.value(key, dimension) {
                None => 0,
                Some(datum) => {
                    let mut bytes = Vec::new();
                    put_datum(&mut bytes, datum);
                    let next = known.len() as u64 + 1;
                    *known.entry(bytes).or_insert_with_key(|bytes| {
                        values.extend_from_slice(bytes);
                        next
                    })
                }
            };
            put(&mut codes, code);
        }
        put(into, known.len() as u64);
        into.extend(values);
        into.extend(codes);
    }
}

fn put_datum(into: &mut Vec<u8>, datum: &Datum) {
    match datum {
        Datum::U64(value) => {
            into.push(0);
            put(into, *value);
        }
        Datum::I64(value) => {
            into.push(1);
            put_signed(into, *value);
        }
        Datum::F64(value) => {
            into.push(2);
            into.extend(value.to_le_bytes());
        }
        Datum::Bytes(bytes) => {
            into.push(3);
            put(into, bytes.len() as u64);
            into.extend(bytes);
        }
    }
}

fn datum(reader: &mut Reader<'_>) -> Option<Datum> {
    Some(match reader.number()? {
        0 => Datum::U64(reader.number()?),
        1 => Datum::I64(reader.signed()?),
        2 => Datum::F64(reader.double()?),
        3 => {
            let length = reader.count()?;
            Datum::Bytes(reader.take(length)?.to_vec())
        }
        _ => return None,
    })
}

/// The keys of a part as a batch with the columns of the dimensions, so that filters and group keys of the table read
/// them like rows. A column that is rolled up by presence has zeros for values; the sketched column has the greatest
/// value of the key's band.
#[derive(Debug, Clone)]
pub struct Keys {
    /// One row per key.
    pub batch: RecordBatch,
    /// The band of each key.
    pub bands: Vec<u8>,
}

/// Decodes the table of keys. `None` when the bytes are not one.
pub fn decode(bytes: &[u8], table: Table, spec: &Spec) -> Option<Result<Keys, StoreError>> {
    let mut reader = Reader { bytes };
    let count = reader.count()?;
    let mut dimension = || -> Option<(Vec<Datum>, Vec<usize>)> {
        let values = reader.count()?;
        let values: Vec<Datum> = (0..values).map(|_| datum(&mut reader)).collect::<Option<_>>()?;
        let codes = (0..count).map(|_| reader.count_below(values.len())).collect::<Option<_>>()?;
        Some((values, codes))
    };
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    let mut add = |name: &str, array: ArrayRef| {
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    };
    for dim in std::iter::once(&Dim::Column("project")).chain(spec.dims) {
        let (_, column) = table.column(dim.column())?;
        let (mut values, codes) = dimension()?;
        if matches!(dim, Dim::Presence(_)) {
            let some = match column.kind {
                Kind::F64 => Datum::F64(0.0),
                Kind::Bool => Datum::U64(1),
                _ => Datum::I64(0),
            };
            // Presence is a bool: 1 when the column has a value.
            let is_there = |code: &usize| matches!(values.get(code.wrapping_sub(1)), Some(Datum::U64(1)));
            let cells = codes.iter().map(|code| is_there(code).then_some(&some));
            match column_of(column.kind, cells) {
                Ok(array) => add(column.name, array),
                Err(error) => return Some(Err(error)),
            }
            continue;
        }
        if column.kind == Kind::Text {
            match dictionary(&values, &codes) {
                Ok(array) => add(column.name, array),
                Err(error) => return Some(Err(error)),
            }
            continue;
        }
        values.shrink_to_fit();
        match column_of(column.kind, codes.iter().map(|code| values.get(code.wrapping_sub(1)))) {
            Ok(array) => add(column.name, array),
            Err(error) => return Some(Err(error)),
        }
    }
    let mut bands = vec![0; count];
    if !spec.bands.is_empty() {
        let (values, codes) = dimension()?;
        for (band, code) in bands.iter_mut().zip(codes) {
            let Some(Datum::U64(value)) = values.get(code.wrapping_sub(1)) else { return None };
            *band = u8::try_from(*value).ok()?;
        }
        let ends = bands.iter().map(|band| spec.band_end(*band));
        add(spec.sketched?, Arc::new(ends.collect::<Int64Array>()));
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
    Some(batch.map(|batch| Keys { batch, bands }).map_err(StoreError::internal("read the keys of a roll-up")))
}

fn dictionary(values: &[Datum], codes: &[usize]) -> Result<ArrayRef, StoreError> {
    let strings = values.iter().map(|value| match value {
        Datum::Bytes(bytes) => String::from_utf8_lossy(bytes),
        _ => "".into(),
    });
    let strings: StringArray = strings.map(Some).collect();
    let codes: Int32Array = codes.iter().map(|code| code.checked_sub(1).map(|code| code as i32)).collect();
    let array = DictionaryArray::<Int32Type>::try_new(codes, Arc::new(strings));
    debug_assert!(array.as_ref().is_ok_and(|array| *arrow::array::Array::data_type(array)
        == DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))));
    Ok(Arc::new(array.map_err(StoreError::internal("read the keys of a roll-up"))?))
}
