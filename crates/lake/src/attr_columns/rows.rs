//! Splits the rows of one encoded column.
//!
//! Rows of one instrumentation have the same keys in the same order and mostly the same values. A pair with the same
//! bytes as an earlier pair is not parsed again. The cache is checked first for the last pair of the key that followed
//! the previous key last time, then for all pairs of the batch.

use std::hash::{BuildHasher as _, RandomState};

use arrow::array::{Array, ArrayRef, BinaryArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use hashbrown::HashTable;

use super::AttrKey;
use super::look_up::LookUp;
use super::pairs::{self, Pair, Raw};
use super::values::Values;
use crate::schedule::yielding::yield_point;

/// Rows split between yield points, in a fraction of a millisecond.
const ROWS_AT_ONCE: usize = 128;

/// A split column.
pub struct Split {
    /// The attributes that stay encoded.
    pub rest: BinaryArray,
    /// The extra columns, by key.
    pub extra: Vec<ArrayRef>,
    /// By key: whether some row still has the key in the encoded column.
    pub is_incomplete: Vec<bool>,
}

/// Splits a column. `as_numbers`: text becomes dictionaries.
pub fn split(encoded: &BinaryArray, keys: &[AttrKey], as_numbers: bool) -> Split {
    split_with(Rows::new(keys, encoded.len()), encoded, as_numbers)
}

/// Like [`split`], but parses every pair.
#[cfg(test)]
pub fn split_slowly(encoded: &BinaryArray, keys: &[AttrKey], as_numbers: bool) -> Split {
    split_with(Rows { uses_cache: false, ..Rows::new(keys, encoded.len()) }, encoded, as_numbers)
}

fn split_with<'s: 'a, 'a>(mut rows: Rows<'s, 'a>, encoded: &'a BinaryArray, as_numbers: bool) -> Split {
    let rest = rows.split(encoded);
    let extra = rows.values.into_iter().map(|values| values.finish(as_numbers)).collect();
    Split { rest, extra, is_incomplete: rows.is_incomplete }
}

/// A pair that was split before.
#[derive(Clone, Copy)]
struct CachedPair<'a> {
    whole: &'a [u8],
    column: usize,
    /// The integer, or the number of the string.
    value: i64,
}

/// The result of looking a pair up in the cache.
enum CacheLookup<'a> {
    Hit(CachedPair<'a>),
    /// No text pair with these bytes, which have this hash, was split before.
    Miss(u64),
    /// The cache of all pairs was not checked.
    Unknown,
}

struct Rows<'s, 'a> {
    pub(crate) keys: &'s [AttrKey],
    columns_by_key: LookUp<'s>,
    is_incomplete: Vec<bool>,
    values: Vec<Values>,
    /// Pairs of text columns.
    cached: HashTable<CachedPair<'a>>,
    /// The last pair, by column.
    last: Vec<CachedPair<'a>>,
    /// For each column, counted from 1, the column that followed it last. At index 0: the first column of the last row.
    next: Vec<usize>,
    /// The values that leave the current row: column, and the integer or number of the string.
    found: Vec<(usize, i64)>,
    /// The seed of hashes.
    seed: u64,
    uses_cache: bool,
}

/// A key, its column, and the value if it can leave the encoded column.
type Cell<'a> = (&'a [u8], Option<usize>, Option<i64>);

impl<'s: 'a, 'a> Rows<'s, 'a> {
    /// Prepares to split `count` rows.
    fn new(keys: &'s [AttrKey], count: usize) -> Rows<'s, 'a> {
        Rows {
            columns_by_key: LookUp::new(keys),
            is_incomplete: vec![false; keys.len()],
            values: keys.iter().map(|key| Values::new(key.is_int, count)).collect(),
            cached: HashTable::with_capacity(count),
            last: vec![CachedPair { whole: &[], column: 0, value: 0 }; keys.len()],
            next: vec![0; keys.len() + 1],
            found: Vec::new(),
            keys,
            seed: RandomState::new().hash_one(0),
            uses_cache: true,
        }
    }

    /// Splits all rows. Returns the attributes that stay encoded.
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
                self.mark_row_incomplete(bytes);
                rest.extend_from_slice(bytes);
            }
            ends.push(i32::try_from(rest.len()).expect("the rest is no longer than the encoded column"));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        BinaryArray::new(offsets, Buffer::from(rest), encoded.nulls().cloned())
    }

    /// Splits one row: collects the values that leave it in `found` and appends the pairs that stay to `rest`. False
    /// when its pairs are not sorted by key, or not in the form that our encoder writes.
    fn row(&mut self, mut bytes: &'a [u8], rest: &mut Vec<u8>) -> bool {
        self.found.clear();
        let mut last: (&[u8], Option<usize>) = (&[], None);
        // The previous column, counted from 1.
        let mut before = 0;
        let mut last_whole: &[u8] = &[];
        while !bytes.is_empty() {
            let Some((whole, after)) = pairs::whole(bytes) else { return false };
            let (key, index, value) = match self.lookup(whole, before) {
                CacheLookup::Hit(cached) => {
                    (self.keys[cached.column].key.as_bytes(), Some(cached.column), Some(cached.value))
                }
                lookup => match pairs::pair(whole) {
                    Some((pair, _)) => self.parsed(&pair, &lookup),
                    None => return false,
                },
            };
            // Columns are sorted by key, so their numbers compare like the keys.
            let order = match (last.1, index) {
                (Some(last), Some(index)) => last.cmp(&index),
                _ => last.0.cmp(key),
            };
            if order.is_gt() {
                return false;
            }
            match (index, value) {
                // All occurrences of a repeated key stay.
                (Some(index), _) if order.is_eq() => {
                    if self.found.pop_if(|(cached, _)| *cached == index).is_some() {
                        rest.extend_from_slice(last_whole);
                    }
                    rest.extend_from_slice(whole);
                    self.is_incomplete[index] = true;
                }
                (Some(index), Some(value)) => self.found.push((index, value)),
                (index, _) => {
                    rest.extend_from_slice(whole);
                    index.into_iter().for_each(|index| self.is_incomplete[index] = true);
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

    /// Looks a pair up in the cache. `before`: the previous column, counted from 1.
    #[inline]
    fn lookup(&mut self, whole: &'a [u8], before: usize) -> CacheLookup<'a> {
        let expected = self.next[before];
        let Some(last) = self.last.get(expected).filter(|_| self.uses_cache) else { return CacheLookup::Unknown };
        if last.whole == whole {
            return CacheLookup::Hit(*last);
        }
        // Parsing an integer is faster than a look-up.
        if self.keys[expected].is_int {
            return CacheLookup::Unknown;
        }
        let hash = hash(whole, self.seed);
        match self.cached.find(hash, |cached| cached.whole == whole) {
            Some(cached) => {
                self.last[cached.column] = *cached;
                CacheLookup::Hit(*cached)
            }
            None => CacheLookup::Miss(hash),
        }
    }

    fn parsed(&mut self, pair: &Pair<'a>, lookup: &CacheLookup<'a>) -> Cell<'a> {
        let Some(column) = self.columns_by_key.find(pair.key) else { return (pair.key, None, None) };
        let value = match pair.raw() {
            Some(Raw::Int(value)) if self.keys[column].is_int => {
                self.last[column] = CachedPair { whole: pair.whole, column, value };
                Some(value)
            }
            Some(Raw::Text(text)) if !self.keys[column].is_int => self.number(column, pair.whole, text, lookup),
            _ => None,
        };
        (pair.key, Some(column), value)
    }

    /// The number of a string in its column; `None` when it is not UTF-8 and stays encoded.
    fn number(&mut self, column: usize, whole: &'a [u8], text: &[u8], lookup: &CacheLookup<'a>) -> Option<i64> {
        let (hash_of_it, cached) = match lookup {
            CacheLookup::Miss(hash) => (*hash, None),
            _ => {
                let hash = hash(whole, self.seed);
                (hash, self.cached.find(hash, |cached| cached.whole == whole).copied())
            }
        };
        let cached = match cached {
            Some(cached) => cached,
            None => {
                let value = self.values[column].add(str::from_utf8(text).ok()?);
                let (cached, seed) = (CachedPair { whole, column, value }, self.seed);
                self.cached.insert_unique(hash_of_it, cached, |cached| hash(cached.whole, seed));
                cached
            }
        };
        self.last[column] = cached;
        Some(cached.value)
    }

    /// Marks the keys of a row that is not split. An unreadable row may have any key.
    fn mark_row_incomplete(&mut self, bytes: &[u8]) {
        let mut list = Vec::new();
        let readable = pairs::read(bytes, &mut list);
        for (index, key) in self.keys.iter().enumerate() {
            self.is_incomplete[index] |= !readable || list.iter().any(|pair| pair.key == key.key.as_bytes());
        }
    }
}

/// A hash that is fast for a few dozen bytes.
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
