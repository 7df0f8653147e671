//! Reads answers: typed columns of a [`RecordBatch`] by name, without downcasting at every use.
//!
//! ```text
//! let answer = Answer::new(batch);
//! let (names, counts) = (answer.text("name")?, answer.u64("count")?);
//! for row in 0..answer.rows() {
//!     println!("{} {}", names.at(row), counts.at(row));
//! }
//! ```

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, FixedSizeBinaryArray, ListArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type,
};

use crate::StoreError;

/// The rows that answer a plan.
#[derive(Debug, Clone)]
pub struct Answer {
    batch: RecordBatch,
}

/// A column of numbers; `at` returns 0 for a null.
#[derive(Debug)]
pub struct Numbers<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>);

// Derived implementations would require `T: Clone` and `T: Copy`.
impl<T: ArrowPrimitiveType> Clone for Numbers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ArrowPrimitiveType> Copy for Numbers<'_, T> {}

/// A column of strings; `at` returns "" for a null.
#[derive(Debug, Clone, Copy)]
pub struct Strings<'a>(&'a StringArray);

/// A column of opaque bytes; `at` returns an empty slice for a null.
#[derive(Debug, Clone, Copy)]
pub struct Opaque<'a>(&'a BinaryArray);

/// A column of ids of `N` bytes; `at` returns zeros for a null.
#[derive(Debug, Clone, Copy)]
pub struct Ids<'a, const N: usize>(&'a FixedSizeBinaryArray);

/// A column of booleans; `at` returns false for a null.
#[derive(Debug, Clone, Copy)]
pub struct Booleans<'a>(&'a BooleanArray);

/// A column of lists of doubles: quantiles.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a>(&'a ListArray);

/// Every typed accessor fails with [`StoreError::Internal`] when the column is missing or has another type.
impl Answer {
    /// Wraps the batch that an engine returned.
    pub fn new(batch: RecordBatch) -> Answer {
        Answer { batch }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether the answer has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// The batch as the engine returned it.
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// The column `name` of [`Kind::Bool`](crate::tables::Kind::Bool).
    pub fn bool(&self, name: &str) -> Result<Booleans<'_>, StoreError> {
        self.column(name, |array| array.as_boolean_opt()).map(Booleans)
    }

    /// The column `name` of unsigned 8-bit integers.
    pub fn u8(&self, name: &str) -> Result<Numbers<'_, UInt8Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of signed 16-bit integers.
    pub fn i16(&self, name: &str) -> Result<Numbers<'_, Int16Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of unsigned 32-bit integers.
    pub fn u32(&self, name: &str) -> Result<Numbers<'_, UInt32Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of unsigned 64-bit integers.
    pub fn u64(&self, name: &str) -> Result<Numbers<'_, UInt64Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of signed 64-bit integers.
    pub fn i64(&self, name: &str) -> Result<Numbers<'_, Int64Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of doubles.
    pub fn f64(&self, name: &str) -> Result<Numbers<'_, Float64Type>, StoreError> {
        self.number(name)
    }

    /// The column `name` of strings.
    pub fn text(&self, name: &str) -> Result<Strings<'_>, StoreError> {
        self.column(name, |array| array.as_string_opt()).map(Strings)
    }

    /// The column `name` of variable-length bytes.
    pub fn bytes(&self, name: &str) -> Result<Opaque<'_>, StoreError> {
        self.column(name, |array| array.as_binary_opt()).map(Opaque)
    }

    /// The column `name` of ids of 8 bytes.
    pub fn id8(&self, name: &str) -> Result<Ids<'_, 8>, StoreError> {
        self.ids(name)
    }

    /// The column `name` of ids of 16 bytes.
    pub fn id16(&self, name: &str) -> Result<Ids<'_, 16>, StoreError> {
        self.ids(name)
    }

    /// The column `name` of lists of doubles.
    pub fn lists(&self, name: &str) -> Result<Lists<'_>, StoreError> {
        self.column(name, |array| array.as_list_opt()).map(Lists)
    }

    fn number<T: ArrowPrimitiveType>(&self, name: &str) -> Result<Numbers<'_, T>, StoreError> {
        self.column(name, |array| array.as_primitive_opt()).map(Numbers)
    }

    fn ids<const N: usize>(&self, name: &str) -> Result<Ids<'_, N>, StoreError> {
        let of_size = |array: &ArrayRef| *array.data_type() == DataType::FixedSizeBinary(N as i32);
        self.column(name, |array| array.as_fixed_size_binary_opt().filter(|_| of_size(array))).map(Ids)
    }

    /// The caller chose the plan's columns, so a missing column is a defect of the caller.
    fn column<'a, T>(
        &'a self,
        name: &str,
        open: impl FnOnce(&'a ArrayRef) -> Option<&'a T>,
    ) -> Result<&'a T, StoreError> {
        let array = self.batch.column_by_name(name);
        array.and_then(open).ok_or_else(|| {
            let why = match array {
                Some(array) => format!("column {name} is of type {}", array.data_type()),
                None => format!("there is no column {name}"),
            };
            StoreError::Internal { what: "read the answer", why }
        })
    }
}

impl<'a, T: ArrowPrimitiveType> Numbers<'a, T> {
    /// The value of a row; 0 for a null. Panics when `row` is out of bounds.
    pub fn at(self, row: usize) -> T::Native {
        self.get(row).unwrap_or_default()
    }

    /// The value of a row; `None` for a null. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<T::Native> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// The values of all rows in order; `None` for a null.
    pub fn iter(self) -> impl Iterator<Item = Option<T::Native>> + 'a {
        self.0.iter()
    }
}

impl<'a> Strings<'a> {
    /// The string of a row; "" for a null. Panics when `row` is out of bounds.
    pub fn at(self, row: usize) -> &'a str {
        self.get(row).unwrap_or("")
    }

    /// The string of a row; `None` for a null. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<&'a str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// The strings of all rows in order; `None` for a null.
    pub fn iter(self) -> impl Iterator<Item = Option<&'a str>> {
        self.0.iter()
    }
}

impl<'a> Opaque<'a> {
    /// The bytes of a row; empty for a null. Panics when `row` is out of bounds.
    pub fn at(self, row: usize) -> &'a [u8] {
        self.get(row).unwrap_or(&[])
    }

    /// The bytes of a row; `None` for a null. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<&'a [u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

impl<const N: usize> Ids<'_, N> {
    /// The id of a row; zeros for a null. Panics when `row` is out of bounds.
    pub fn at(self, row: usize) -> [u8; N] {
        self.get(row).unwrap_or([0; N])
    }

    /// The id of a row; `None` for a null. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<[u8; N]> {
        self.0.is_valid(row).then(|| self.0.value(row).try_into().unwrap_or([0; N]))
    }
}

impl Booleans<'_> {
    /// The boolean of a row; false for a null. Panics when `row` is out of bounds.
    pub fn at(self, row: usize) -> bool {
        self.get(row).unwrap_or(false)
    }

    /// The boolean of a row; `None` for a null. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<bool> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

impl<'a> Lists<'a> {
    /// The list of a row; `None` when the group had no values. Panics when `row` is out of bounds.
    pub fn get(self, row: usize) -> Option<&'a [f64]> {
        let offsets = self.0.value_offsets();
        let range = offsets[row] as usize..offsets[row + 1] as usize;
        let values = self.0.values().as_primitive_opt::<Float64Type>()?.values();
        self.0.is_valid(row).then(|| &values[range])
    }

    /// The element at `index` of a row's list; `None` when the group had no values or the list is shorter.
    pub fn nth(self, row: usize, index: usize) -> Option<f64> {
        self.get(row)?.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use std::sync::Arc;

    #[test]
    fn columns_are_read_by_name_and_type() {
        let strings: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(7)]));
        let ids: ArrayRef =
            Arc::new(FixedSizeBinaryArray::try_from_iter([[1_u8; 8], [2; 8]].iter()).expect("equal lengths"));
        let columns = [("text", strings, true), ("number", numbers, true), ("id", ids, false)];
        let answer = Answer::new(RecordBatch::try_from_iter_with_nullable(columns).expect("equal lengths"));
        assert_eq!(answer.rows(), 2);
        let (strings, numbers) = (answer.text("text").unwrap(), answer.i64("number").unwrap());
        assert_eq!((strings.at(0), strings.at(1), strings.get(1)), ("a", "", None));
        assert_eq!((numbers.at(0), numbers.at(1), numbers.get(0)), (0, 7, None));
        assert_eq!(answer.id8("id").unwrap().at(1), [2; 8]);
        assert!(answer.id16("id").is_err());
        assert!(answer.text("number").is_err());
        assert!(answer.text("nothing").is_err());
    }
}
