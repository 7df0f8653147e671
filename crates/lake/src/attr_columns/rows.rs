//! Rows of one encoded column, taken apart.
//!
//! Rows of one instrumentation have the same keys in the same order, and much the same values: a pair that is, byte by
//! byte, one that was split before needs no parsing. It is looked for first where it was last time, at the key that
//! followed the key before it, then among all of the batch.

use std::hash::{BuildHasher as _, RandomState};

use arrow::array::{Array, ArrayRef, BinaryArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use hashbrown::HashTable;

use super::AttrKey;
use super::look_up::LookUp;
use super::pairs::{self, Pair, Raw};
use super::values::Values;
use crate::schedule::yielding::yield_point;

/// Rows taken apart before others may go first: a fraction of a millisecond's.
const ROWS_AT_ONCE: usize = 128;

/// What a column of rows became.
pub struct Split {
    /// What stays encoded.
    pub rest: BinaryArray,
    /// By key.
    pub extra: Vec<ArrayRef>,
    /// By key: some row has it in the encoded column still.
    pub left_behind: Vec<bool>,
}

/// Splits a column; `as_numbers`: texts become dictionaries.
pub fn split(encoded: &BinaryArray, keys: &[AttrKey], as_numbers: bool) -> Split {
    split_with(Rows::new(keys, encoded.len()), encoded, as_numbers)
}

/// As [`split`], every pair parsed.
#[cfg(test)]
pub fn split_slowly(encoded: &BinaryArray, keys: &[AttrKey], as_numbers: bool) -> Split {
    split_with(Rows { remembers: false, ..Rows::new(keys, encoded.len()) }, encoded, as_numbers)
}

fn split_with<'s: 'a, 'a>(mut rows: Rows<'s, 'a>, encoded: &'a BinaryArray, as_numbers: bool) -> Split {
    let rest = rows.split(encoded);
    let extra = rows.values.into_iter().map(|values| values.finish(as_numbers)).collect();
    Split { rest, extra, left_behind: rows.left_behind }
}

/// A pair that was split before.
#[derive(Clone, Copy)]
struct Known<'a> {
    whole: &'a [u8],
    column: usize,
    /// The integer, or the number of the text.
    value: i64,
}

/// What is known of a pair before it is parsed.
enum Look<'a> {
    Known(Known<'a>),
    /// No text with this hash was split before.
    New(u64),
    Unknown,
}

struct Rows<'s, 'a> {
    pub(crate) keys: &'s [AttrKey],
    look_up: LookUp<'s>,
    left_behind: Vec<bool>,
    values: Vec<Values>,
    /// Pairs of text columns.
    known: HashTable<Known<'a>>,
    /// By column, the pair that came last.
    last: Vec<Known<'a>>,
    /// The column that came last after each column, counted from 1; first: at the start of a row.
    next: Vec<usize>,
    /// The values that leave the row at hand: columns, and integers or numbers of texts.
    found: Vec<(usize, i64)>,
    /// Of hashes.
    seed: u64,
    remembers: bool,
}

/// A key, its column, and the value if it can leave.
type Cell<'a> = (&'a [u8], Option<usize>, Option<i64>);

impl<'s: 'a, 'a> Rows<'s, 'a> {
    /// To split so many rows.
    fn new(keys: &'s [AttrKey], count: usize) -> Rows<'s, 'a> {
        Rows {
            look_up: LookUp::new(keys),
            left_behind: vec![false; keys.len()],
            values: keys.iter().map(|key| Values::new(key.is_int, count)).collect(),
            known: HashTable::with_capacity(count),
            last: vec![Known { whole: &[], column: 0, value: 0 }; keys.len()],
            next: vec![0; keys.len() + 1],
            found: Vec::new(),
            keys,
            seed: RandomState::new().hash_one(0),
            remembers: true,
        }
    }

    /// What stays encoded.
    fn split(&mut self, encoded: &'a BinaryArray) -> BinaryArray {
        let mut ends = Vec::with_capacity(encoded.len() + 1);
        ends.push(0);
        let mut rest = Vec::new();
        for row in 0..encoded.len() {
            if row % ROWS_AT_ONCE == 0 {
                yield_point();
            }
            let bytes = if encoded.is_null(row) { &[] } else { encoded.value(row) };
            let start = rest.len();
            if self.row(bytes, &mut rest) {
                for (column, value) in &self.found {
                    self.values[*column].put(row, *value);
                }
            } else {
                rest.truncate(start);
                self.leave(bytes);
                rest.extend_from_slice(bytes);
            }
            ends.push(i32::try_from(rest.len()).expect("what is left is no longer than what was there"));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        BinaryArray::new(offsets, Buffer::from(rest), None)
    }

    /// One row: the values that leave it, and the pairs that stay. False when its pairs are not sorted by key, or are
    /// not what our encoder writes.
    fn row(&mut self, mut bytes: &'a [u8], rest: &mut Vec<u8>) -> bool {
        self.found.clear();
        let mut last: (&[u8], Option<usize>) = (&[], None);
        // The column that came last, counted from 1.
        let mut before = 0;
        let mut last_whole: &[u8] = &[];
        while !bytes.is_empty() {
            let Some((whole, after)) = pairs::whole(bytes) else { return false };
            let (key, index, value) = match self.look(whole, before) {
                Look::Known(known) => (self.keys[known.column].key.as_bytes(), Some(known.column), Some(known.value)),
                look => match pairs::pair(whole) {
                    Some((pair, _)) => self.parsed(&pair, &look),
                    None => return false,
                },
            };
            // Keys with columns are sorted as their columns are.
            let order = match (last.1, index) {
                (Some(last), Some(index)) => last.cmp(&index),
                _ => last.0.cmp(key),
            };
            if order.is_gt() {
                return false;
            }
            match (index, value) {
                // A key that comes again stays, each time.
                (Some(index), _) if order.is_eq() => {
                    if self.found.pop_if(|(known, _)| *known == index).is_some() {
                        rest.extend_from_slice(last_whole);
                    }
                    rest.extend_from_slice(whole);
                    self.left_behind[index] = true;
                }
                (Some(index), Some(value)) => self.found.push((index, value)),
                (index, _) => {
                    rest.extend_from_slice(whole);
                    index.into_iter().for_each(|index| self.left_behind[index] = true);
                }
            }
            if let Some(index) = index {
                self.next[before] = index;
                before = index + 1;
            }
            last = (key, index);
            last_whole = whole;
            bytes = after;
        }
        true
    }

    /// The pair among those that were split before.
    #[inline]
    fn look(&mut self, whole: &'a [u8], before: usize) -> Look<'a> {
        let expected = self.next[before];
        let Some(last) = self.last.get(expected).filter(|_| self.remembers) else { return Look::Unknown };
        if last.whole == whole {
            return Look::Known(*last);
        }
        // Integers are parsed faster than looked for.
        if self.keys[expected].is_int {
            return Look::Unknown;
        }
        let hash = hash(whole, self.seed);
        match self.known.find(hash, |known| known.whole == whole) {
            Some(known) => {
                self.last[known.column] = *known;
                Look::Known(*known)
            }
            None => Look::New(hash),
        }
    }

    fn parsed(&mut self, pair: &Pair<'a>, look: &Look<'a>) -> Cell<'a> {
        let Some(column) = self.look_up.find(pair.key) else { return (pair.key, None, None) };
        let value = match pair.raw() {
            Some(Raw::Int(value)) if self.keys[column].is_int => {
                self.last[column] = Known { whole: pair.whole, column, value };
                Some(value)
            }
            Some(Raw::Text(text)) if !self.keys[column].is_int => self.number(column, pair.whole, text, look),
            _ => None,
        };
        (pair.key, Some(column), value)
    }

    /// The number of a column's text; `None` when it is not UTF-8: it stays encoded.
    fn number(&mut self, column: usize, whole: &'a [u8], text: &[u8], look: &Look<'a>) -> Option<i64> {
        let (hash_of_it, known) = match look {
            Look::New(hash) => (*hash, None),
            _ => {
                let hash = hash(whole, self.seed);
                (hash, self.known.find(hash, |known| known.whole == whole).copied())
            }
        };
        let known = match known {
            Some(known) => known,
            None => {
                let value = self.values[column].add(str::from_utf8(text).ok()?);
                let (known, seed) = (Known { whole, column, value }, self.seed);
                self.known.insert_unique(hash_of_it, known, |known| hash(known.whole, seed));
                known
            }
        };
        self.last[column] = known;
        Some(known.value)
    }

    /// A row that stays as it is. What cannot be read may hold any key.
    fn leave(&mut self, bytes: &[u8]) {
        let mut list = Vec::new();
        let readable = pairs::read(bytes, &mut list);
        for (index, key) in self.keys.iter().enumerate() {
            self.left_behind[index] |= !readable || list.iter().any(|pair| pair.key == key.key.as_bytes());
        }
    }
}

/// Quick for the few dozen bytes that a pair has.
#[inline]
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mixed = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let state = words.iter().fold(seed ^ bytes.len() as u64, |state, word| mixed(state, u64::from_le_bytes(*word)));
    let last = bytes.last_chunk::<8>().copied().unwrap_or_else(|| {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        last
    });
    mixed(state, u64::from_le_bytes(last))
}
