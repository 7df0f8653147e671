//! Rows of one encoded column, taken apart.
//!
//! Rows of one instrumentation have the same keys in the same order, and much the same values: a pair that is, byte by
//! byte, one that was split before needs no parsing. It is looked for first where it was last time, at the key that
//! followed the key before it, then among all of the batch.

use arrow::array::{Array, ArrayRef, BinaryArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::AttrKey;
use super::look_up::LookUp;
use super::pairs::{self, Pair, Raw};
use super::values::Values;

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
    split_with(Rows::new(keys), encoded, as_numbers)
}

/// As [`split`], every pair parsed.
#[cfg(test)]
pub fn split_slowly(encoded: &BinaryArray, keys: &[AttrKey], as_numbers: bool) -> Split {
    split_with(Rows { remembers: false, ..Rows::new(keys) }, encoded, as_numbers)
}

fn split_with<'s: 'a, 'a>(mut rows: Rows<'s, 'a>, encoded: &'a BinaryArray, as_numbers: bool) -> Split {
    let rest = rows.split(encoded);
    let extra = rows.values.into_iter().map(|values| values.finish(encoded.len(), as_numbers)).collect();
    Split { rest, extra, left_behind: rows.left_behind }
}

/// A pair of a text column that was split before.
#[derive(Clone, Copy)]
struct Known<'a> {
    whole: &'a [u8],
    column: usize,
    number: i64,
}

struct Rows<'s, 'a> {
    keys: &'s [AttrKey],
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
    remembers: bool,
}

/// A key, its column, and the value if it can leave.
type Cell<'a> = (&'a [u8], Option<usize>, Option<i64>);

impl<'s: 'a, 'a> Rows<'s, 'a> {
    fn new(keys: &'s [AttrKey]) -> Rows<'s, 'a> {
        Rows {
            look_up: LookUp::new(keys),
            left_behind: vec![false; keys.len()],
            values: keys.iter().map(|key| Values::new(key.is_int)).collect(),
            known: HashTable::with_capacity(1024),
            last: vec![Known { whole: &[], column: 0, number: 0 }; keys.len()],
            next: vec![0; keys.len() + 1],
            found: Vec::new(),
            keys,
            remembers: true,
        }
    }

    /// What stays encoded.
    fn split(&mut self, encoded: &'a BinaryArray) -> BinaryArray {
        let mut ends = Vec::with_capacity(encoded.len() + 1);
        ends.push(0);
        let mut rest = Vec::new();
        for row in 0..encoded.len() {
            let bytes = if encoded.is_null(row) { &[] } else { encoded.value(row) };
            let start = rest.len();
            if self.row(bytes, &mut rest) {
                for (column, value) in &self.found {
                    self.values[*column].push(row, *value);
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
            let (key, index, value) = match self.remembered(whole, before) {
                Some(known) => (self.keys[known.column].key.as_bytes(), Some(known.column), Some(known.number)),
                None => match pairs::pair(whole) {
                    Some((pair, _)) => self.parsed(&pair),
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
    fn remembered(&mut self, whole: &'a [u8], before: usize) -> Option<Known<'a>> {
        if !self.remembers {
            return None;
        }
        let expected = self.next[before];
        let last = *self.last.get(expected)?;
        if last.whole == whole {
            return Some(last);
        }
        // Integers are parsed faster than looked for.
        if self.keys[expected].is_int {
            return None;
        }
        let known = *self.known.find(xxh3_64(whole), |known| known.whole == whole)?;
        self.last[known.column] = known;
        Some(known)
    }

    fn parsed(&mut self, pair: &Pair<'a>) -> Cell<'a> {
        let Some(column) = self.look_up.find(pair.key) else { return (pair.key, None, None) };
        let value = match pair.raw() {
            Some(Raw::Int(number)) if self.keys[column].is_int => {
                self.last[column] = Known { whole: pair.whole, column, number };
                Some(number)
            }
            Some(Raw::Text(text)) if !self.keys[column].is_int => self.number(column, pair.whole, text),
            _ => None,
        };
        (pair.key, Some(column), value)
    }

    /// The number of a column's text; `None` when it is not UTF-8: it stays encoded.
    fn number(&mut self, column: usize, whole: &'a [u8], text: &[u8]) -> Option<i64> {
        let hash = xxh3_64(whole);
        let known = match self.known.find(hash, |known| known.whole == whole) {
            Some(known) => *known,
            None => {
                let number = self.values[column].add(str::from_utf8(text).ok()?);
                let known = Known { whole, column, number };
                self.known.insert_unique(hash, known, |known| xxh3_64(known.whole));
                known
            }
        };
        self.last[column] = known;
        Some(known.number)
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
