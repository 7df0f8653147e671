//! The values of one extra column in the making.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBufferBuilder, Int64Array, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::pairs::Raw;

/// Rows without a value are made up for when the next value comes.
pub struct Values {
    cells: Cells,
    valid: BooleanBufferBuilder,
}

enum Cells {
    Text { ends: Vec<i32>, bytes: Vec<u8> },
    Int(Vec<i64>),
}

impl Values {
    pub fn new(is_int: bool) -> Values {
        let cells = match is_int {
            true => Cells::Int(Vec::new()),
            false => Cells::Text { ends: vec![0], bytes: Vec::new() },
        };
        Values { cells, valid: BooleanBufferBuilder::new(0) }
    }

    /// The value of a row after all that have one; of the column's kind.
    pub fn push(&mut self, row: usize, value: Raw<'_>) {
        self.fill_up(row);
        match (&mut self.cells, value) {
            (Cells::Text { ends, bytes }, Raw::Text(text)) => {
                bytes.extend_from_slice(text);
                ends.push(i32::try_from(bytes.len()).expect("the texts are part of one column"));
            }
            (Cells::Int(numbers), Raw::Int(number)) => numbers.push(number),
            _ => unreachable!("only values that fit are pushed"),
        }
        self.valid.append(true);
    }

    fn fill_up(&mut self, rows: usize) {
        let missing = rows - self.valid.len();
        if missing == 0 {
            return;
        }
        self.valid.append_n(missing, false);
        match &mut self.cells {
            Cells::Text { ends, bytes } => ends.resize(rows + 1, bytes.len() as i32),
            Cells::Int(numbers) => numbers.resize(rows, 0),
        }
    }

    /// A column of so many rows. `None` when a text is not UTF-8.
    pub fn finish(mut self, rows: usize) -> Option<ArrayRef> {
        self.fill_up(rows);
        let nulls = Some(NullBuffer::new(self.valid.finish()));
        Some(match self.cells {
            Cells::Text { ends, bytes } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(StringArray::try_new(offsets, Buffer::from(bytes), nulls).ok()?) as ArrayRef
            }
            Cells::Int(numbers) => Arc::new(Int64Array::new(ScalarBuffer::from(numbers), nulls)),
        })
    }
}
