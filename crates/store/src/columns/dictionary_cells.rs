//! Dictionary columns: each value once, and the number of its value per row. A resource of a kilobyte would otherwise
//! be copied with every span, twice before it is acknowledged, and columns of few distinct names would be compared row
//! by row when a part is written.

use std::sync::Arc;

use arrow::array::{ArrayData, ArrayRef, DictionaryArray, Int32Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;
use xxhash_rust::xxh3::xxh3_64;

use super::pick::Pick;
use super::vectors::{extend, memory_of, offset, variable, variable_array, variable_memory_of};
use crate::tables::Kind;

/// Bounds of the size of the hash table that finds equal values; within them it has at least twice as many slots as
/// values. A slot has its latest value: an earlier one that comes again is stored twice, which only costs memory.
const SLOTS_MIN: usize = 128;
const SLOTS_MAX: usize = 8192;

/// Caches the value numbers of strings by their address: equal strings of one request are mostly the same memory.
pub struct NameCache<'t>([(&'t str, i32); NameCache::SLOTS]);

impl<'t> NameCache<'t> {
    const SLOTS: usize = 32;

    /// Creates an empty cache for one column, valid until the column is cleared.
    pub fn new() -> NameCache<'t> {
        NameCache([("", -1); NameCache::SLOTS])
    }

    #[inline]
    fn slot_of(&mut self, text: &'t str) -> &mut (&'t str, i32) {
        let hash = (text.as_ptr().addr() ^ text.len()).wrapping_mul(0x9E37_79B9);
        &mut self.0[(hash >> 16) % NameCache::SLOTS]
    }
}

/// The cells of a dictionary column: the number of its value per row, and values as variable-length cells.
#[derive(Debug, Clone)]
pub struct DictionaryCells {
    kind: Kind,
    numbers: Vec<i32>,
    ends: Vec<i32>,
    bytes: Vec<u8>,
    /// By value, the low 32 bits of its [`DictionaryCells::hash_of`].
    hashes: Vec<u32>,
    /// By slot, one more than the number of its value, or 0; empty before the first look-up.
    slots: Vec<u32>,
}

impl DictionaryCells {
    /// Creates an empty column of [`Kind::Text`] or [`Kind::Bytes`].
    pub fn new(kind: Kind) -> DictionaryCells {
        let (numbers, ends, bytes) = (Vec::new(), Vec::new(), Vec::new());
        DictionaryCells { kind, numbers, ends, bytes, hashes: Vec::new(), slots: Vec::new() }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// Bytes of the values, including their offsets.
    pub fn values_bytes(&self) -> usize {
        self.ends.len() * 4 + self.bytes.len()
    }

    /// Bytes allocated, spare capacity and the hash table included.
    pub fn capacity_bytes(&self) -> usize {
        let hashed = self.hashes.capacity() + self.slots.capacity();
        (self.numbers.capacity() + self.ends.capacity() + hashed) * 4 + self.bytes.capacity()
    }

    /// Removes all rows and values and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.bytes.clear();
        self.hashes.clear();
        self.slots.clear();
    }

    /// Reuses the vectors behind an array of [`DictionaryCells::into_array`], except those that are still referenced
    /// elsewhere.
    pub fn take_memory(&mut self, data: ArrayData) {
        let (_, _, _, _, numbers, values) = data.into_parts();
        self.numbers = memory_of(numbers.into_iter().next());
        if let Some(values) = values.into_iter().next() {
            (self.ends, self.bytes) = variable_memory_of(values);
        }
    }

    /// Reserves capacity for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.numbers.reserve(rows);
    }

    /// Appends a row with the value that `write` appends.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let number = self.intern_appended(start);
        self.numbers.push(number);
    }

    /// Appends rows with these values, each with its [`DictionaryCells::hash_of`].
    pub fn extend_hashed<'v>(&mut self, values: impl Iterator<Item = (&'v [u8], u64)>) {
        for (value, hash) in values {
            let number = self.intern(value, hash);
            self.numbers.push(number);
        }
    }

    /// The hash of a value. Stored series depend on it, so it must not change.
    pub fn hash_of(value: &[u8]) -> u64 {
        xxh3_64(value)
    }

    /// Appends rows with these strings.
    pub fn extend_strings<'t>(&mut self, strings: impl Iterator<Item = &'t str>) {
        // Strings of one resource or scope are the same memory.
        let mut last: (&str, i32) = ("", -1);
        for text in strings {
            if last.1 < 0 || !std::ptr::eq(last.0, text) {
                last = (text, self.intern(text.as_bytes(), DictionaryCells::hash_of(text.as_bytes())));
            }
            self.numbers.push(last.1);
        }
    }

    /// Appends rows with these strings; `latest` is the cache of this column.
    pub fn extend_names<'t>(&mut self, strings: impl Iterator<Item = &'t str>, latest: &mut NameCache<'t>) {
        for text in strings {
            let known = latest.slot_of(text);
            if known.1 < 0 || !std::ptr::eq(known.0, text) {
                *known = (text, self.intern(text.as_bytes(), DictionaryCells::hash_of(text.as_bytes())));
            }
            self.numbers.push(known.1);
        }
    }

    /// The number of a value that equals `value`, which is added when it is not found.
    fn intern(&mut self, value: &[u8], hash: u64) -> i32 {
        self.grow_slots();
        let slot = self.slot_of(hash as u32);
        let candidate = self.slots[slot].checked_sub(1);
        match candidate.filter(|number| variable(&self.ends, &self.bytes, *number as usize) == value) {
            Some(number) => number as i32,
            None => {
                self.bytes.extend_from_slice(value);
                self.add(slot, hash as u32)
            }
        }
    }

    /// The number of a value that equals the bytes from `start` on, which are removed again when it is found.
    fn intern_appended(&mut self, start: usize) -> i32 {
        self.grow_slots();
        let value = &self.bytes[start..];
        let hash = DictionaryCells::hash_of(value) as u32;
        let slot = self.slot_of(hash);
        match self.slots[slot].checked_sub(1) {
            Some(number) if variable(&self.ends, &self.bytes, number as usize) == value => {
                self.bytes.truncate(start);
                number as i32
            }
            _ => self.add(slot, hash),
        }
    }

    /// Creates or grows the hash table for the current number of values.
    fn grow_slots(&mut self) {
        let is_full = self.ends.len() * 2 >= self.slots.len() && self.slots.len() < SLOTS_MAX;
        if self.slots.is_empty() || is_full {
            let slots = (self.ends.len() * 2 + 1).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX);
            self.slots.clear();
            self.slots.resize(slots, 0);
            for (value, hash) in self.hashes.iter().enumerate() {
                // Same as `slot_of`.
                self.slots[*hash as usize & (slots - 1)] = value as u32 + 1;
            }
        }
    }

    /// The slot of a hash.
    fn slot_of(&self, hash: u32) -> usize {
        // A power of two.
        hash as usize & (self.slots.len() - 1)
    }

    /// Adds the bytes after the last value as a new value and returns its number.
    fn add(&mut self, slot: usize, hash: u32) -> i32 {
        self.ends.push(offset(self.bytes.len()));
        self.hashes.push(hash);
        self.slots[slot] = self.ends.len() as u32;
        self.ends.len() as i32 - 1
    }

    /// Appends rows by the index of their value in `values`, which must be the same in all calls between two
    /// [`DictionaryCells::clear`]s.
    pub fn extend<'v>(&mut self, values: impl ExactSizeIterator<Item = &'v [u8]>, rows: impl Iterator<Item = u32>) {
        for value in values.skip(self.ends.len()) {
            self.bytes.extend_from_slice(value);
            self.ends.push(offset(self.bytes.len()));
            self.hashes.push(DictionaryCells::hash_of(value) as u32);
        }
        self.numbers.extend(rows.map(|row| row as i32));
    }

    /// Appends the picked rows of `from`.
    pub fn append(&mut self, from: &DictionaryCells, pick: Pick<'_>) {
        let before = self.numbers.len();
        extend(&mut self.numbers, &from.numbers, pick);
        // The values of the first rows are copied as they are.
        if self.ends.is_empty() {
            self.ends.extend_from_slice(&from.ends);
            self.bytes.extend_from_slice(&from.bytes);
            return self.hashes.extend_from_slice(&from.hashes);
        }
        let hashes = from.hashes.iter().enumerate();
        let number =
            |(number, hash): (usize, &u32)| self.intern(variable(&from.ends, &from.bytes, number), u64::from(*hash));
        let numbers: Vec<i32> = hashes.map(number).collect();
        self.numbers[before..].iter_mut().for_each(|number| *number = numbers[*number as usize]);
    }

    /// The number of a row's value: rows with equal numbers have equal values.
    pub fn number(&self, row: usize) -> i32 {
        self.numbers[row]
    }

    /// A row's value.
    pub fn value(&self, row: usize) -> &[u8] {
        variable(&self.ends, &self.bytes, self.numbers[row] as usize)
    }

    /// Sets the cells of `rows` (ascending) to `value`, and removes values that no row refers to.
    pub fn set(&mut self, rows: &[usize], value: &[u8]) {
        let mut set = DictionaryCells::new(self.kind);
        set.reserve(self.numbers.len());
        let mut rows = rows.iter().copied().peekable();
        for row in 0..self.numbers.len() {
            let value = if rows.next_if_eq(&row).is_some() { value } else { self.value(row) };
            let number = set.intern(value, DictionaryCells::hash_of(value));
            set.numbers.push(number);
        }
        *self = set;
    }

    /// Sets cells to values, by row, and removes values that no row refers to.
    pub fn set_each(&mut self, values: &[(usize, &[u8])]) {
        for (row, value) in values {
            self.numbers[*row] = self.intern(value, DictionaryCells::hash_of(value));
        }
        let mut is_used = vec![false; self.ends.len()];
        self.numbers.iter().for_each(|number| is_used[*number as usize] = true);
        if is_used.contains(&false) {
            self.set(&[], b"");
        }
    }

    /// Converts the column to a [`DictionaryArray`] without copying. A null has the number of a value too.
    pub fn into_array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let values = variable_array(self.kind, self.ends, self.bytes, None);
        let numbers = Int32Array::new(ScalarBuffer::from(self.numbers), nulls);
        let array = DictionaryArray::<Int32Type>::try_new(numbers, values);
        Arc::new(array.expect("every row has the number of a value"))
    }
}
