//! The values of one extra column in the making.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;

/// Rows without a value are made up for when the next value comes.
pub enum Values {
    /// Each text once, rows by number.
    Text { rows: Vec<i32>, ends: Vec<i32>, bytes: Vec<u8> },
    Int { rows: Vec<i64>, valid: Vec<bool> },
}

/// The number of a row without a text.
const NONE: i32 = -1;

impl Values {
    pub fn new(is_int: bool) -> Values {
        match is_int {
            true => Values::Int { rows: Vec::new(), valid: Vec::new() },
            false => Values::Text { rows: Vec::new(), ends: vec![0], bytes: Vec::new() },
        }
    }

    /// The number of a text that was not there before; of a column of texts.
    pub fn add(&mut self, text: &str) -> i64 {
        let Values::Text { ends, bytes, .. } = self else { unreachable!("only values that fit are pushed") };
        bytes.extend_from_slice(text.as_bytes());
        ends.push(i32::try_from(bytes.len()).expect("the texts are part of one column"));
        ends.len() as i64 - 2
    }

    /// The value of a row after all that have one: the integer, or the number of the text.
    #[inline]
    pub fn push(&mut self, row: usize, value: i64) {
        match self {
            Values::Text { rows, .. } => {
                if rows.len() < row {
                    rows.resize(row, NONE);
                }
                rows.push(value as i32);
            }
            Values::Int { rows, valid } => {
                if rows.len() < row {
                    rows.resize(row, 0);
                    valid.resize(row, false);
                }
                rows.push(value);
                valid.push(true);
            }
        }
    }

    /// A column of so many rows; texts as a dictionary or one by one.
    pub fn finish(self, count: usize, as_numbers: bool) -> ArrayRef {
        match self {
            Values::Text { mut rows, ends, bytes } => {
                rows.resize(count, NONE);
                let nulls = NullBuffer::new(BooleanBuffer::collect_bool(count, |row| rows[row] != NONE));
                let numbers = Int32Array::new(ScalarBuffer::from(rows), Some(nulls).filter(|n| n.null_count() > 0));
                let texts = StringArray::try_new(OffsetBuffer::new(ScalarBuffer::from(ends)), Buffer::from(bytes), None);
                let texts: ArrayRef = Arc::new(texts.expect("texts were added as such"));
                match as_numbers {
                    true => Arc::new(DictionaryArray::new(numbers, texts)),
                    false => take(&texts, &numbers, None).expect("every number is that of a text"),
                }
            }
            Values::Int { mut rows, mut valid } => {
                rows.resize(count, 0);
                valid.resize(count, false);
                let nulls = NullBuffer::new(BooleanBuffer::from(valid));
                Arc::new(Int64Array::new(ScalarBuffer::from(rows), Some(nulls)))
            }
        }
    }
}
