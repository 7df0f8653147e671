//! Typed views of the columns of a batch.

use std::cmp::Ordering;

use arrow::array::{
    Array, AsArray, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float64Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Int32Type};

use super::datum::Datum;
use tidewatch_store::StoreError;

/// A column of a batch. Text read from a part may be a dictionary, as the part stores it.
pub(crate) enum Cells<'a> {
    Bool(&'a BooleanArray),
    U8(&'a UInt8Array),
    I16(&'a Int16Array),
    U32(&'a UInt32Array),
    U64(&'a UInt64Array),
    I64(&'a Int64Array),
    F64(&'a Float64Array),
    Text(&'a StringArray),
    /// Indices into distinct strings.
    Dictionary(&'a Int32Array, &'a StringArray),
    Bytes(&'a BinaryArray),
    /// Indices into distinct byte strings: dictionary columns in memory.
    Shared(&'a Int32Array, &'a BinaryArray),
    Id(&'a FixedSizeBinaryArray),
}

/// The column `name` of `batch`. Queries read all columns that they use, so a missing column is
/// [`StoreError::Internal`].
pub(crate) fn cells<'a>(batch: &'a RecordBatch, name: &str) -> Result<Cells<'a>, StoreError> {
    let array = batch.column_by_name(name).ok_or_else(|| defect(format!("column {name} was not read")))?;
    Cells::of(array.as_ref())
}

fn defect(why: String) -> StoreError {
    StoreError::Internal { what: "scan", why }
}

impl<'a> Cells<'a> {
    pub fn of(array: &'a dyn Array) -> Result<Cells<'a>, StoreError> {
        Ok(match array.data_type() {
            DataType::Boolean => Cells::Bool(array.as_boolean()),
            DataType::UInt8 => Cells::U8(array.as_primitive()),
            DataType::Int16 => Cells::I16(array.as_primitive()),
            DataType::UInt32 => Cells::U32(array.as_primitive()),
            DataType::UInt64 => Cells::U64(array.as_primitive()),
            DataType::Int64 => Cells::I64(array.as_primitive()),
            DataType::Float64 => Cells::F64(array.as_primitive()),
            DataType::Utf8 => Cells::Text(array.as_string()),
            DataType::Binary => Cells::Bytes(array.as_binary()),
            DataType::FixedSizeBinary(_) => Cells::Id(array.as_fixed_size_binary()),
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
                let dictionary = array.as_dictionary::<Int32Type>();
                Cells::Dictionary(dictionary.keys(), dictionary.values().as_string())
            }
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Binary => {
                let dictionary = array.as_dictionary::<Int32Type>();
                Cells::Shared(dictionary.keys(), dictionary.values().as_binary())
            }
            other => return Err(defect(format!("no column has the type {other}"))),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Cells::Bool(array) => *array,
            Cells::U8(array) => *array,
            Cells::I16(array) => *array,
            Cells::U32(array) => *array,
            Cells::U64(array) => *array,
            Cells::I64(array) => *array,
            Cells::F64(array) => *array,
            Cells::Text(array) => *array,
            Cells::Dictionary(keys, _) | Cells::Shared(keys, _) => *keys,
            Cells::Bytes(array) => *array,
            Cells::Id(array) => *array,
        }
    }

    pub fn len(&self) -> usize {
        self.array().len()
    }

    /// The rows that are not null; `None` means all.
    pub fn validity(&self) -> Option<&'a NullBuffer> {
        match self {
            Cells::Bool(array) => Array::nulls(*array),
            Cells::U8(array) => Array::nulls(*array),
            Cells::I16(array) => Array::nulls(*array),
            Cells::U32(array) => Array::nulls(*array),
            Cells::U64(array) => Array::nulls(*array),
            Cells::I64(array) => Array::nulls(*array),
            Cells::F64(array) => Array::nulls(*array),
            Cells::Text(array) => Array::nulls(*array),
            Cells::Dictionary(keys, _) | Cells::Shared(keys, _) => Array::nulls(*keys),
            Cells::Bytes(array) => Array::nulls(*array),
            Cells::Id(array) => Array::nulls(*array),
        }
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.validity().is_some_and(|valid| valid.is_null(row))
    }

    /// The text, bytes or id of a row; empty for a null and for numbers.
    pub fn bytes(&self, row: usize) -> &'a [u8] {
        if self.is_null(row) {
            return &[];
        }
        match self {
            Cells::Text(array) => array.value(row).as_bytes(),
            Cells::Dictionary(keys, values) => values.value(keys.value(row) as usize).as_bytes(),
            Cells::Bytes(array) => array.value(row),
            Cells::Shared(keys, values) => values.value(keys.value(row) as usize),
            Cells::Id(array) => array.value(row),
            _ => &[],
        }
    }

    /// The number of a row as a double; `None` for a null, a NaN and for text.
    pub fn number(&self, row: usize) -> Option<f64> {
        if self.is_null(row) {
            return None;
        }
        let number = match self {
            Cells::Bool(array) => f64::from(u8::from(array.value(row))),
            Cells::U8(array) => f64::from(array.value(row)),
            Cells::I16(array) => f64::from(array.value(row)),
            Cells::U32(array) => f64::from(array.value(row)),
            Cells::U64(array) => array.value(row) as f64,
            Cells::I64(array) => array.value(row) as f64,
            Cells::F64(array) => array.value(row),
            _ => return None,
        };
        (!number.is_nan()).then_some(number)
    }

    /// [`Cells::number`] of all rows; NaN instead of `None`.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers: Vec<f64> = match self {
            Cells::U8(array) => array.values().iter().map(|value| f64::from(*value)).collect(),
            Cells::I16(array) => array.values().iter().map(|value| f64::from(*value)).collect(),
            Cells::U32(array) => array.values().iter().map(|value| f64::from(*value)).collect(),
            Cells::U64(array) => array.values().iter().map(|value| *value as f64).collect(),
            Cells::I64(array) => array.values().iter().map(|value| *value as f64).collect(),
            Cells::F64(array) => array.values().to_vec(),
            _ => (0..self.len()).map(|row| self.number(row).unwrap_or(f64::NAN)).collect(),
        };
        if let Some(valid) = self.validity() {
            numbers.iter_mut().zip(valid.iter()).filter(|(_, valid)| !valid).for_each(|(number, _)| *number = f64::NAN);
        }
        numbers
    }

    /// Compares two rows like [`Datum::order`]; nulls sort first.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        if self.is_null(a) || self.is_null(b) {
            return self.is_null(b).cmp(&self.is_null(a));
        }
        match self {
            Cells::Bool(array) => array.value(a).cmp(&array.value(b)),
            Cells::U8(array) => array.value(a).cmp(&array.value(b)),
            Cells::I16(array) => array.value(a).cmp(&array.value(b)),
            Cells::U32(array) => array.value(a).cmp(&array.value(b)),
            Cells::U64(array) => array.value(a).cmp(&array.value(b)),
            Cells::I64(array) => array.value(a).cmp(&array.value(b)),
            Cells::F64(array) => array.value(a).total_cmp(&array.value(b)),
            _ => self.bytes(a).cmp(self.bytes(b)),
        }
    }

    /// The value of a row; `None` for a null.
    pub fn datum(&self, row: usize) -> Option<Datum> {
        if self.is_null(row) {
            return None;
        }
        Some(match self {
            Cells::Bool(array) => Datum::U64(u64::from(array.value(row))),
            Cells::U8(array) => Datum::U64(u64::from(array.value(row))),
            Cells::I16(array) => Datum::I64(i64::from(array.value(row))),
            Cells::U32(array) => Datum::U64(u64::from(array.value(row))),
            Cells::U64(array) => Datum::U64(array.value(row)),
            Cells::I64(array) => Datum::I64(array.value(row)),
            Cells::F64(array) => Datum::F64(array.value(row)),
            _ => Datum::Bytes(self.bytes(row).to_vec()),
        })
    }
}

/// The column `time`.
pub(crate) fn times(batch: &RecordBatch) -> Result<&Int64Array, StoreError> {
    match cells(batch, "time")? {
        Cells::I64(array) => Ok(array),
        _ => Err(defect("column time is not of kind I64".to_owned())),
    }
}
