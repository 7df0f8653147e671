//! Arrays of bytes, read row by row.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StringArray};
use arrow::buffer::NullBuffer;

/// Arrays of bytes, text or not.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
}

impl<'a> Texts<'a> {
    /// Of an array of bytes, text or not.
    ///
    /// # Panics
    ///
    /// When it is of another type.
    pub fn open(array: &'a ArrayRef) -> Texts<'a> {
        let text = array.as_string_opt::<i32>().map(Texts::Text);
        let texts = text.or_else(|| array.as_binary_opt::<i32>().map(Texts::Bytes));
        texts.expect("the caller asked whether it can be written")
    }

    /// Have none of these rows any bytes, be they null or all empty?
    pub fn are_empty(self, rows: Range<usize>) -> bool {
        let (ends, nulls) = match self {
            Texts::Text(array) => (array.value_offsets(), array.nulls()),
            Texts::Bytes(array) => (array.value_offsets(), array.nulls()),
        };
        let is_none = |nulls: &NullBuffer| nulls.inner().slice(rows.start, rows.len()).count_set_bits() == 0;
        ends[rows.start] == ends[rows.end] && nulls.is_none_or(is_none)
    }

    #[inline]
    pub fn get(self, row: usize) -> Option<&'a [u8]> {
        match self {
            Texts::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}
