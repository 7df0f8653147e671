//! Builds one extra column.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;

/// A column of `count` rows under construction; rows without a value are null.
pub struct Values {
    cells: Cells,
    /// One bit per row: whether it has a value.
    valid: Vec<u8>,
    count: usize,
}

enum Cells {
    /// Distinct strings, and the number of each row's string.
    Text {
        rows: Vec<i32>,
        ends: Vec<i32>,
        bytes: Vec<u8>,
    },
    Int(Vec<i64>),
}

impl Values {
    /// A column of `count` nulls. `is_int`: of I64; otherwise text.
    pub fn new(is_int: bool, count: usize) -> Values {
        let cells = match is_int {
            true => Cells::Int(vec![0; count]),
            false => Cells::Text { rows: vec![0; count], ends: vec![0], bytes: Vec::new() },
        };
        Values { cells, valid: vec![0; count.div_ceil(8)], count }
    }

    /// Adds a new string to a text column. Returns its number.
    pub fn add(&mut self, text: &str) -> i64 {
        let Cells::Text { ends, bytes, .. } = &mut self.cells else { unreachable!("only values that fit are added") };
        bytes.extend_from_slice(text.as_bytes());
        ends.push(i32::try_from(bytes.len()).expect("the strings are part of one column"));
        ends.len() as i64 - 2
    }

    /// Sets the value of a row: the integer, or the number of the string.
    #[inline]
    pub fn put(&mut self, row: usize, value: i64) {
        match &mut self.cells {
            Cells::Text { rows, .. } => rows[row] = value as i32,
            Cells::Int(rows) => rows[row] = value,
        }
        self.valid[row / 8] |= 1 << (row % 8);
    }

    /// The column. `as_numbers`: text as a dictionary; otherwise plain.
    pub fn finish(self, as_numbers: bool) -> ArrayRef {
        let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(self.valid), 0, self.count));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        match self.cells {
            Cells::Text { rows, ends, bytes } => {
                let numbers = Int32Array::new(ScalarBuffer::from(rows), nulls);
                let strings =
                    StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(ends)), Buffer::from(bytes), None);
                let strings: ArrayRef = Arc::new(strings.expect("strings were added as UTF-8"));
                match as_numbers {
                    true => Arc::new(DictionaryArray::new(numbers, strings)),
                    false => take(&strings, &numbers, None).expect("every number is that of a string"),
                }
            }
            Cells::Int(rows) => Arc::new(Int64Array::new(ScalarBuffer::from(rows), nulls)),
        }
    }
}
