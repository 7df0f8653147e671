//! Byte arrays, read row by row.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StringArray};
use arrow::buffer::NullBuffer;

/// A string or binary array.
#[derive(Clone, Copy)]
pub enum Strings<'a> {
    /// UTF-8 strings.
    Text(&'a StringArray),
    /// Arbitrary bytes.
    Bytes(&'a BinaryArray),
}

impl<'a> Strings<'a> {
    /// Borrows a string or binary array.
    ///
    /// # Panics
    ///
    /// When the array has another type.
    pub fn open(array: &'a ArrayRef) -> Strings<'a> {
        let text = array.as_string_opt::<i32>().map(Strings::Text);
        let strings = text.or_else(|| array.as_binary_opt::<i32>().map(Strings::Bytes));
        strings.expect("the caller checked that the type can be written")
    }

    /// Whether all of `rows` are null, or all have an empty value.
    pub fn are_empty(self, rows: Range<usize>) -> bool {
        let (ends, nulls) = match self {
            Strings::Text(array) => (array.value_offsets(), array.nulls()),
            Strings::Bytes(array) => (array.value_offsets(), array.nulls()),
        };
        let is_none = |nulls: &NullBuffer| nulls.inner().slice(rows.start, rows.len()).count_set_bits() == 0;
        ends[rows.start] == ends[rows.end] && nulls.is_none_or(is_none)
    }

    /// The value of a row; `None` when it is null.
    #[inline]
    pub fn get(self, row: usize) -> Option<&'a [u8]> {
        match self {
            Strings::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Strings::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}
