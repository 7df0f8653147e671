//! Cells that many rows share: each value once, and a number per row. A resource of a kilobyte would otherwise be copied
//! with every span, twice before it is acknowledged; and names of few values would be compared row by row when a part is
//! written.

use std::sync::Arc;

use arrow::array::{ArrayData, ArrayRef, DictionaryArray, Int32Array};
use arrow::datatypes::Int32Type;
use xxhash_rust::xxh3::xxh3_64;

use super::pick::Pick;
use super::vectors::{extend, memory_of, offset, variable, variable_array, variable_memory_of};
use crate::tables::Kind;

/// Places where a value is looked for that comes again, by its hash; the latest value has a place. One that is not found
/// is there twice, which only costs room. There are twice as many places as values, between these bounds.
const PLACES_MIN: usize = 128;
const PLACES_MAX: usize = 8192;

/// The numbers of texts that a column was given, by where they are in memory: those of one request that are equal
/// mostly are the same memory.
pub struct LatestNames<'t>([(&'t str, i32); LatestNames::PLACES]);

impl<'t> LatestNames<'t> {
    const PLACES: usize = 32;

    /// Of a column, until it is cleared.
    pub fn new() -> LatestNames<'t> {
        LatestNames([("", -1); LatestNames::PLACES])
    }

    #[inline]
    fn place_of(&mut self, text: &'t str) -> &mut (&'t str, i32) {
        let hash = (text.as_ptr().addr() ^ text.len()).wrapping_mul(0x9E37_79B9);
        &mut self.0[(hash >> 16) % LatestNames::PLACES]
    }
}

/// By row the number of its value; values as variable-length cells.
#[derive(Debug, Clone)]
pub struct SharedCells {
    kind: Kind,
    numbers: Vec<i32>,
    ends: Vec<i32>,
    bytes: Vec<u8>,
    /// By value, the end of its [`SharedCells::hash_of`]: as much as a place takes.
    hashes: Vec<u32>,
    /// By place, one more than the number of the value that has it; empty before the first is looked for.
    places: Vec<u32>,
}

impl SharedCells {
    /// Of texts or bytes.
    pub fn new(kind: Kind) -> SharedCells {
        let (numbers, ends, bytes) = (Vec::new(), Vec::new(), Vec::new());
        SharedCells { kind, numbers, ends, bytes, hashes: Vec::new(), places: Vec::new() }
    }

    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes of the values, their ends included.
    pub fn values_bytes(&self) -> usize {
        self.ends.len() * 4 + self.bytes.len()
    }

    pub fn capacity_bytes(&self) -> usize {
        let hashed = self.hashes.capacity() + self.places.capacity();
        (self.numbers.capacity() + self.ends.capacity() + hashed) * 4 + self.bytes.capacity()
    }

    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.bytes.clear();
        self.hashes.clear();
        self.places.clear();
    }

    /// Takes over the vectors that an array was made of, but for those that somebody else has.
    pub fn take_memory(&mut self, data: ArrayData) {
        let (_, _, _, _, numbers, values) = data.into_parts();
        self.numbers = memory_of(numbers.into_iter().next());
        if let Some(values) = values.into_iter().next() {
            (self.ends, self.bytes) = variable_memory_of(values);
        }
    }

    /// Room for so many more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.numbers.reserve(rows);
    }

    /// A row whose value `write` appends.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let number = self.settle(start);
        self.numbers.push(number);
    }

    /// Rows with these values, which come with their [`SharedCells::hash_of`].
    pub fn extend_hashed<'v>(&mut self, values: impl Iterator<Item = (&'v [u8], u64)>) {
        for (value, hash) in values {
            let number = self.number_of(value, hash);
            self.numbers.push(number);
        }
    }

    /// Stored series are made of it too: it stays what it is.
    pub fn hash_of(value: &[u8]) -> u64 {
        xxh3_64(value)
    }

    /// Rows with these texts.
    pub fn extend_texts<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        // Texts of one resource or scope are the same memory.
        let mut last: (&str, i32) = ("", -1);
        for text in texts {
            if last.1 < 0 || !std::ptr::eq(last.0, text) {
                last = (text, self.number_of(text.as_bytes(), SharedCells::hash_of(text.as_bytes())));
            }
            self.numbers.push(last.1);
        }
    }

    /// Rows with these texts; the column is the one that `latest` knows.
    pub fn extend_names<'t>(&mut self, texts: impl Iterator<Item = &'t str>, latest: &mut LatestNames<'t>) {
        for text in texts {
            let known = latest.place_of(text);
            if known.1 < 0 || !std::ptr::eq(known.0, text) {
                *known = (text, self.number_of(text.as_bytes(), SharedCells::hash_of(text.as_bytes())));
            }
            self.numbers.push(known.1);
        }
    }

    /// The number of a value that equals the bytes.
    fn number_of(&mut self, value: &[u8], hash: u64) -> i32 {
        self.make_places();
        let place = self.place_of(hash as u32);
        let at_hand = self.places[place].checked_sub(1);
        match at_hand.filter(|number| variable(&self.ends, &self.bytes, *number as usize) == value) {
            Some(number) => number as i32,
            None => {
                self.bytes.extend_from_slice(value);
                self.add(place, hash as u32)
            }
        }
    }

    /// The number of a value that equals the bytes from `start` on, which are taken back when it was there before.
    fn settle(&mut self, start: usize) -> i32 {
        self.make_places();
        let value = &self.bytes[start..];
        let hash = SharedCells::hash_of(value) as u32;
        let place = self.place_of(hash);
        match self.places[place].checked_sub(1) {
            Some(number) if variable(&self.ends, &self.bytes, number as usize) == value => {
                self.bytes.truncate(start);
                number as i32
            }
            _ => self.add(place, hash),
        }
    }

    /// As many places as the values want.
    fn make_places(&mut self) {
        let is_full = self.ends.len() * 2 >= self.places.len() && self.places.len() < PLACES_MAX;
        if self.places.is_empty() || is_full {
            let places = (self.ends.len() * 2 + 1).next_power_of_two().clamp(PLACES_MIN, PLACES_MAX);
            self.places.clear();
            self.places.resize(places, 0);
            for (value, hash) in self.hashes.iter().enumerate() {
                // As in `place_of`.
                self.places[*hash as usize & (places - 1)] = value as u32 + 1;
            }
        }
    }

    /// Where a value with this hash is looked for.
    fn place_of(&self, hash: u32) -> usize {
        // A power of two.
        hash as usize & (self.places.len() - 1)
    }

    /// The bytes behind the last value are another.
    fn add(&mut self, place: usize, hash: u32) -> i32 {
        self.ends.push(offset(self.bytes.len()));
        self.hashes.push(hash);
        self.places[place] = self.ends.len() as u32;
        self.ends.len() as i32 - 1
    }

    /// Rows by their place in `values`, which are the same each time this is called between two [`SharedCells::clear`]s.
    pub fn extend<'v>(&mut self, values: impl ExactSizeIterator<Item = &'v [u8]>, rows: impl Iterator<Item = u32>) {
        for value in values.skip(self.ends.len()) {
            self.bytes.extend_from_slice(value);
            self.ends.push(offset(self.bytes.len()));
            self.hashes.push(SharedCells::hash_of(value) as u32);
        }
        self.numbers.extend(rows.map(|row| row as i32));
    }

    pub fn append(&mut self, from: &SharedCells, pick: Pick<'_>) {
        let before = self.numbers.len();
        extend(&mut self.numbers, &from.numbers, pick);
        // The first rows bring their values as they are.
        if self.ends.is_empty() {
            self.ends.extend_from_slice(&from.ends);
            self.bytes.extend_from_slice(&from.bytes);
            return self.hashes.extend_from_slice(&from.hashes);
        }
        let hashes = from.hashes.iter().enumerate();
        let number =
            |(number, hash): (usize, &u32)| self.number_of(variable(&from.ends, &from.bytes, number), u64::from(*hash));
        let numbers: Vec<i32> = hashes.map(number).collect();
        self.numbers[before..].iter_mut().for_each(|number| *number = numbers[*number as usize]);
    }

    /// The number of a row's value: rows with one number have one value.
    pub fn number(&self, row: usize) -> i32 {
        self.numbers[row]
    }

    /// A row's value.
    pub fn value(&self, row: usize) -> &[u8] {
        variable(&self.ends, &self.bytes, self.numbers[row] as usize)
    }

    /// Gives the rows (ascending) this value; values that no row has any more are gone afterwards.
    pub fn set(&mut self, rows: &[usize], value: &[u8]) {
        let mut set = SharedCells::new(self.kind);
        set.reserve(self.numbers.len());
        let mut rows = rows.iter().copied().peekable();
        for row in 0..self.numbers.len() {
            let value = if rows.next_if_eq(&row).is_some() { value } else { self.value(row) };
            let number = set.number_of(value, SharedCells::hash_of(value));
            set.numbers.push(number);
        }
        *self = set;
    }

    pub fn into_array(self) -> ArrayRef {
        let values = variable_array(self.kind, self.ends, self.bytes, None);
        let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from(self.numbers), values);
        Arc::new(array.expect("every row has the number of a value"))
    }
}
