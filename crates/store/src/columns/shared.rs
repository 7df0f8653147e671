//! Cells that many rows share: each value once, and a number per row. A resource of a kilobyte would otherwise be copied
//! with every span, twice before it is acknowledged.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array};
use arrow::datatypes::Int32Type;

use super::cells::{extend, extend_variable, offset, variable, variable_array};
use crate::tables::Kind;

/// A value that comes again is looked for among so many of the latest ones.
const LATEST: usize = 16;

/// By row the number of its value; values as variable-length cells.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedCells {
    numbers: Vec<i32>,
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl SharedCells {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes of the values, their ends included.
    pub fn values_bytes(&self) -> usize {
        self.ends.len() * 4 + self.bytes.len()
    }

    pub fn capacity_bytes(&self) -> usize {
        (self.numbers.capacity() + self.ends.capacity()) * 4 + self.bytes.capacity()
    }

    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.bytes.clear();
    }

    /// A row whose value `write` appends.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let number = match self.find(start) {
            Some(number) => {
                self.bytes.truncate(start);
                number
            }
            None => {
                self.ends.push(offset(self.bytes.len()));
                self.ends.len() as i32 - 1
            }
        };
        self.numbers.push(number);
    }

    /// Rows by their place in `values`, which are the same each time this is called between two [`SharedCells::clear`]s.
    pub fn extend<'v>(&mut self, values: impl ExactSizeIterator<Item = &'v [u8]>, rows: impl Iterator<Item = u32>) {
        for value in values.skip(self.ends.len()) {
            self.bytes.extend_from_slice(value);
            self.ends.push(offset(self.bytes.len()));
        }
        self.numbers.extend(rows.map(|row| row as i32));
    }

    pub fn append(&mut self, from: &SharedCells, keep: Option<&[bool]>) {
        // Whole requests with values of their own are appended as they are.
        if from.ends.len() > LATEST {
            let first = offset(self.ends.len());
            extend_variable(&mut self.ends, &mut self.bytes, &from.ends, &from.bytes, None);
            return self.append_numbers(from, keep, |number| first + number);
        }
        let mut places = [0; LATEST];
        for (value, place) in places.iter_mut().enumerate().take(from.ends.len()) {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(variable(&from.ends, &from.bytes, value));
            *place = match self.find(start) {
                Some(number) => {
                    self.bytes.truncate(start);
                    number
                }
                None => {
                    self.ends.push(offset(self.bytes.len()));
                    self.ends.len() as i32 - 1
                }
            };
        }
        self.append_numbers(from, keep, |number| places[number as usize % LATEST]);
    }

    fn append_numbers(&mut self, from: &SharedCells, keep: Option<&[bool]>, place: impl Fn(i32) -> i32) {
        match keep {
            None => self.numbers.extend(from.numbers.iter().map(|number| place(*number))),
            Some(keep) => {
                let before = self.numbers.len();
                extend(&mut self.numbers, &from.numbers, Some(keep));
                self.numbers[before..].iter_mut().for_each(|number| *number = place(*number));
            }
        }
    }

    /// The number of a late value that equals the bytes from `start` on.
    fn find(&self, start: usize) -> Option<i32> {
        let sought = &self.bytes[start..];
        let latest = (0..self.ends.len()).rev().take(LATEST);
        latest.into_iter().find(|value| variable(&self.ends, &self.bytes, *value) == sought).map(|value| value as i32)
    }

    pub fn into_array(self) -> ArrayRef {
        let values = variable_array(Kind::Bytes, self.ends, self.bytes, None);
        let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from(self.numbers), values);
        Arc::new(array.expect("every row has the number of a value"))
    }
}
