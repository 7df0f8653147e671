//! The values of one extra column in the making.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;

/// A column of as many rows as it was made for; most rows may have no value.
pub struct Values {
    cells: Cells,
    /// A bit per row: whether it has a value.
    valid: Vec<u8>,
    count: usize,
}

enum Cells {
    /// Each text once, rows by number.
    Text {
        rows: Vec<i32>,
        ends: Vec<i32>,
        bytes: Vec<u8>,
    },
    Int(Vec<i64>),
}

impl Values {
    pub fn new(is_int: bool, count: usize) -> Values {
        let cells = match is_int {
            true => Cells::Int(vec![0; count]),
            false => Cells::Text { rows: vec![0; count], ends: vec![0], bytes: Vec::new() },
        };
        Values { cells, valid: vec![0; count.div_ceil(8)], count }
    }

    /// The number of a text that was not there before; of a column of texts.
    pub fn add(&mut self, text: &str) -> i64 {
        let Cells::Text { ends, bytes, .. } = &mut self.cells else { unreachable!("only values that fit are added") };
        bytes.extend_from_slice(text.as_bytes());
        ends.push(i32::try_from(bytes.len()).expect("the texts are part of one column"));
        ends.len() as i64 - 2
    }

    /// The value of a row: the integer, or the number of the text.
    #[inline]
    pub fn put(&mut self, row: usize, value: i64) {
        match &mut self.cells {
            Cells::Text { rows, .. } => rows[row] = value as i32,
            Cells::Int(rows) => rows[row] = value,
        }
        self.valid[row / 8] |= 1 << (row % 8);
    }

    /// The column; texts as a dictionary or one by one.
    pub fn finish(self, as_numbers: bool) -> ArrayRef {
        let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(self.valid), 0, self.count));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        match self.cells {
            Cells::Text { rows, ends, bytes } => {
                let numbers = Int32Array::new(ScalarBuffer::from(rows), nulls);
                let texts =
                    StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(ends)), Buffer::from(bytes), None);
                let texts: ArrayRef = Arc::new(texts.expect("texts were added as such"));
                match as_numbers {
                    true => Arc::new(DictionaryArray::new(numbers, texts)),
                    false => take(&texts, &numbers, None).expect("every number is that of a text"),
                }
            }
            Cells::Int(rows) => Arc::new(Int64Array::new(ScalarBuffer::from(rows), nulls)),
        }
    }
}
