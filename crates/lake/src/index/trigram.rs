//! The trigram index: a filter over the bodies of logs that rules out blocks of rows which cannot contain a string.
//!
//! A part's bodies are divided into blocks of [`BLOCK_ROWS`] rows and lower-cased (ASCII). Every three consecutive
//! bytes set one bit of the block's table, chosen by their hash. A block with a string that contains a needle has all
//! bits of the needle set. A table is folded in half while few enough bits are set, so that few or similar strings take
//! few bytes: at most one byte per row, a quarter of that for typical log records. Full tables are omitted: their
//! blocks are always read.
//!
//! The tables of a part are a section of its file between the rows and the footer, located by the metadata key
//! [`TRIGRAMS`]. Parts without the section, or with another version of it, are searched entirely.
//!
//! Invariant: no block that contains the string is ruled out (decision 0007).

use bytes::Bytes;

use arrow::array::RecordBatch;

use crate::batch::cells::{Cells, cells};
use crate::rollup::directory::Place;
use tidewatch_columnar::page::PAGE_ROWS;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// Metadata key. Value: numbers separated by blanks: the version, rows per block, number of blocks, offset and length.
pub const TRIGRAMS: &str = "tidewatch.grams";

/// Incremented when the same strings set other bits.
const VERSION: u64 = 1;

/// Rows per block: at most those of a page, because pages are read whole.
pub const BLOCK_ROWS: usize = PAGE_ROWS;

/// Bits of a table as powers of two: before folding, and after folding at least.
const TABLE_BITS_MAX: u8 = 16;
const TABLE_BITS_MIN: u8 = 6;
/// Folding stops before more than three of eight bits are set.
const FILL_MAX: (u64, u64) = (3, 8);
/// A table with more than this share of bits set rules out too little and is omitted.
const FULL_MIN: (u64, u64) = (3, 4);
/// The size of an omitted table.
const NO_TABLE: u8 = 0;

/// The indexed column; `None` for a table without this index.
pub fn column(table: Table) -> Option<&'static str> {
    (table == Table::Logs).then_some("body")
}

/// The bit of a lower-cased trigram, whose first byte is the lowest. Folded tables use the low bits.
#[inline]
fn bit_of(trigram: u32) -> u16 {
    (trigram.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Trigrams hashed per iteration, so that the compiler can vectorize the loop.
const STRIDE: usize = 32;

/// Calls `each` with the bit of every three consecutive bytes.
#[inline]
fn for_each_bit(text: &[u8], mut each: impl FnMut(u16)) {
    let lower = |byte: &u8| u32::from(byte.to_ascii_lowercase());
    let bit = |at: &[u8]| bit_of(lower(&at[0]) | lower(&at[1]) << 8 | lower(&at[2]) << 16);
    let mut rest = text;
    while let Some(stride) = rest.first_chunk::<{ STRIDE + 2 }>() {
        let mut bits = [0; STRIDE];
        for (n, into) in bits.iter_mut().enumerate() {
            *into = bit(&stride[n..n + 3]);
        }
        bits.into_iter().for_each(&mut each);
        rest = &rest[STRIDE..];
    }
    rest.windows(3).map(bit).for_each(each);
}

/// The bits that every string with this needle sets, ascending; none for a needle of fewer than three bytes.
pub fn bits_of(needle: &[u8]) -> Vec<u16> {
    let mut bits = Vec::new();
    for_each_bit(needle, |bit| bits.push(bit));
    bits.sort_unstable();
    bits.dedup();
    bits
}

/// Builds the tables of a part while it is written.
pub struct Builder {
    column: &'static str,
    block_rows: usize,
    /// Rows in the current block.
    rows: usize,
    /// The bits of the current block, one byte each: setting a byte needs no read.
    bits_set: Box<[u8; 1 << TABLE_BITS_MAX]>,
    /// By block: the table's size as a power of two.
    sizes: Vec<u8>,
    tables: Vec<u8>,
}

/// A finished index.
pub struct Section {
    /// Bytes of the section in the part's file.
    pub bytes: Vec<u8>,
    /// Value of the metadata key [`TRIGRAMS`].
    pub directory: String,
}

impl Builder {
    /// `None` for a table without this index. `block_rows`: rows per block.
    pub fn new(table: Table, block_rows: usize) -> Option<Builder> {
        let bits_set = Box::new([0; 1 << TABLE_BITS_MAX]);
        let new = |column| Builder { column, block_rows, rows: 0, bits_set, sizes: Vec::new(), tables: Vec::new() };
        column(table).map(new)
    }

    /// Adds rows, in the part's order. Fails when the batch lacks the indexed column.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let strings = cells(batch, self.column)?;
        let mut row = 0;
        while row < batch.num_rows() {
            let end = batch.num_rows().min(row + self.block_rows - self.rows);
            self.add_rows(&strings, row..end);
            self.rows += end - row;
            row = end;
            if self.rows == self.block_rows {
                self.close();
            }
        }
        Ok(())
    }

    /// Adds the rows at `places` (index of batch, row), in the part's order. Fails when a batch lacks the indexed
    /// column.
    pub fn add_places(&mut self, batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<(), StoreError> {
        let strings: Vec<Cells<'_>> =
            batches.iter().map(|batch| cells(batch, self.column)).collect::<Result<_, _>>()?;
        for &(batch, row) in places {
            self.add_rows(&strings[batch], row..row + 1);
            self.rows += 1;
            if self.rows == self.block_rows {
                self.close();
            }
        }
        Ok(())
    }

    fn add_rows(&mut self, strings: &Cells<'_>, rows: std::ops::Range<usize>) {
        let bits_set = &mut *self.bits_set;
        for row in rows {
            if !strings.is_null(row) {
                for_each_bit(strings.bytes(row), |bit| bits_set[usize::from(bit)] = 1);
            }
        }
    }

    fn close(&mut self) {
        self.rows = 0;
        let word = |bits: &[u8]| (0..64).fold(0, |word, bit| word | u64::from(bits[bit]) << bit);
        let mut table: Vec<u64> = self.bits_set.chunks_exact(64).map(word).collect();
        self.bits_set.fill(0);
        let mut words = table.len();
        let set = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let is_over = |(part, of): (u64, u64), set: u64, words: usize| set * of > part * words as u64 * 64;
        if is_over(FULL_MIN, set(&table), words) {
            return self.sizes.push(NO_TABLE);
        }
        let least = 1 << (TABLE_BITS_MIN - 6);
        while words > least {
            let (low, high) = table[..words].split_at(words / 2);
            let folded: u64 = low.iter().zip(high).map(|(low, high)| u64::from((low | high).count_ones())).sum();
            if is_over(FILL_MAX, folded, words / 2) {
                break;
            }
            let (low, high) = table[..words].split_at_mut(words / 2);
            low.iter_mut().zip(high).for_each(|(low, high)| *low |= *high);
            words /= 2;
        }
        self.sizes.push(6 + words.trailing_zeros() as u8);
        table[..words].iter().for_each(|word| self.tables.extend(word.to_le_bytes()));
    }

    /// The section, to be written at `offset` of the file. `None` without rows.
    pub fn finish(mut self, offset: u64) -> Option<Section> {
        if self.rows > 0 {
            self.close();
        }
        let blocks = self.sizes.len();
        let mut bytes = self.sizes;
        bytes.append(&mut self.tables);
        let directory = format!("{VERSION} {} {blocks} {offset} {}", self.block_rows, bytes.len());
        (blocks > 0).then_some(Section { bytes, directory })
    }
}

/// Location of a part's tables in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directory {
    /// Rows per block.
    pub block_rows: usize,
    blocks: usize,
    /// Offset and length of the section.
    pub place: Place,
}

impl Directory {
    /// Parses the value of [`TRIGRAMS`]. `None` when it is of another version, or malformed.
    pub fn decode(text: &str) -> Option<Directory> {
        let numbers: Vec<u64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [VERSION, block_rows, blocks, offset, length] = numbers[..] else { return None };
        let place = Place { offset, length };
        (block_rows > 0).then_some(Directory { block_rows: block_rows as usize, blocks: blocks as usize, place })
    }
}

/// The tables of a part.
pub struct Trigrams {
    /// Rows per block.
    pub block_rows: usize,
    /// By block; empty when omitted.
    tables: Vec<Bytes>,
}

impl Trigrams {
    /// `None` when the bytes are not a section written by [`Builder`].
    pub fn decode(directory: &Directory, bytes: &Bytes) -> Option<Trigrams> {
        let sizes = bytes.get(..directory.blocks)?;
        let mut from = directory.blocks;
        let mut tables = Vec::with_capacity(sizes.len());
        for size in sizes {
            let length = match *size {
                NO_TABLE => 0,
                size if (TABLE_BITS_MIN..=TABLE_BITS_MAX).contains(&size) => 1 << (size - 3),
                _ => return None,
            };
            let end = (from + length <= bytes.len()).then_some(from + length)?;
            tables.push(bytes.slice(from..end));
            from = end;
        }
        (from == bytes.len()).then_some(Trigrams { block_rows: directory.block_rows, tables })
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.tables.len()
    }

    /// False when no string of the block sets all these bits. True for omitted tables and unknown blocks.
    pub fn may_have(&self, block: usize, bits: &[u16]) -> bool {
        let Some(table) = self.tables.get(block).filter(|table| !table.is_empty()) else { return true };
        let mask = table.len() * 8 - 1;
        bits.iter().map(|bit| usize::from(*bit) & mask).all(|bit| table[bit >> 3] >> (bit & 7) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray};
    use proptest::prelude::*;

    use super::*;

    fn trigrams(strings: &[String], block_rows: usize, pieces: usize) -> Option<Trigrams> {
        let mut builder = Builder::new(Table::Logs, block_rows).unwrap();
        for piece in strings.chunks(pieces) {
            let array: ArrayRef = Arc::new(piece.iter().map(Some).collect::<StringArray>());
            builder.add(&RecordBatch::try_from_iter([("body", array)]).unwrap()).unwrap();
        }
        let section = builder.finish(7)?;
        let directory = Directory::decode(&section.directory).unwrap();
        assert_eq!(directory.place, Place { offset: 7, length: section.bytes.len() as u64 });
        let bytes = Bytes::from(section.bytes);
        assert!(Trigrams::decode(&directory, &bytes.slice(1..)).is_none(), "cut short");
        Some(Trigrams::decode(&directory, &bytes).unwrap())
    }

    proptest! {
        /// Whatever the case of the needle's letters.
        #[test]
        fn blocks_with_the_needle_are_never_ruled_out(
            strings in prop::collection::vec("[a-dA-D0-2é日 ]{0,12}", 1..40),
            row in any::<prop::sample::Index>(),
            (from, length) in (0..12_usize, 0..6_usize),
            (block_rows, pieces) in (1..9_usize, 1..9_usize),
        ) {
            let trigrams = trigrams(&strings, block_rows, pieces).unwrap();
            prop_assert_eq!(trigrams.blocks(), strings.len().div_ceil(block_rows));
            let row = row.index(strings.len());
            let text = strings[row].as_bytes();
            let from = from.min(text.len());
            let needle = &text[from..text.len().min(from + length)];
            prop_assert!(trigrams.may_have(row / block_rows, &bits_of(needle)));
            prop_assert!(trigrams.may_have(row / block_rows, &bits_of(&needle.to_ascii_uppercase())));
        }
    }

    /// Parts on disk depend on the bits: other bits require another version.
    #[test]
    fn bits_of_trigrams_are_stable() {
        assert_eq!(bits_of(b"TimeOut"), [1120, 6027, 6367, 17001, 34406]);
        let text = b"GET /orders/4711 took 93 ms: upstream timed out, trying again";
        let mut each: Vec<u16> = text.windows(3).flat_map(bits_of).collect();
        each.sort_unstable();
        each.dedup();
        assert_eq!(bits_of(text), each, "of a long text as of its pieces");
    }

    #[test]
    fn rows_at_places_are_indexed_like_rows_in_order() {
        let batch = |strings: &[&str]| {
            let array: ArrayRef = Arc::new(StringArray::from(strings.to_vec()));
            RecordBatch::try_from_iter([("body", array)]).unwrap()
        };
        let (first, second) = (batch(&["one", "three", "five"]), batch(&["two", "four"]));
        let mut picked = Builder::new(Table::Logs, 2).unwrap();
        picked.add_places(&[&first, &second], &[(0, 0), (1, 0), (0, 1)]).unwrap();
        picked.add_places(&[&first, &second], &[(1, 1), (0, 2)]).unwrap();
        let mut ordered = Builder::new(Table::Logs, 2).unwrap();
        ordered.add(&batch(&["one", "two", "three", "four", "five"])).unwrap();
        let (picked, ordered) = (picked.finish(0).unwrap(), ordered.finish(0).unwrap());
        assert_eq!((picked.bytes, picked.directory), (ordered.bytes, ordered.directory));
    }

    #[test]
    fn blocks_without_the_needle_are_ruled_out() {
        let strings: Vec<String> = (0..64).map(|n| format!("GET /orders/{n} took {} ms", n * 7)).collect();
        let trigrams = trigrams(&strings, 16, 5).unwrap();
        let found = |needle: &str| -> Vec<usize> {
            (0..trigrams.blocks()).filter(|block| trigrams.may_have(*block, &bits_of(needle.as_bytes()))).collect()
        };
        assert!(found("orders/63").contains(&3) && found("orders/63").len() < 4);
        assert!(found("ORDERS/1 T").contains(&0));
        assert!(found("xylograph").is_empty());
        assert_eq!(found("xy"), [0, 1, 2, 3], "two letters rule out nothing");
        assert!(trigrams.may_have(99, &bits_of(b"xylograph")), "an unknown block");
    }

    #[test]
    fn table_sizes_follow_the_number_of_trigrams() {
        let size = |strings: &[String]| trigrams(strings, BLOCK_ROWS, 1000).unwrap().tables[0].len();
        assert_eq!(size(&["short".to_owned()]), 8);
        let numbers: Vec<String> = (0..BLOCK_ROWS).map(|n| format!("user {n} logged in")).collect();
        assert!((256..=1024).contains(&size(&numbers)), "{}", size(&numbers));
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<String> = (0..BLOCK_ROWS).map(|_| (0..100).map(|_| random.char(' '..='~')).collect()).collect();
        assert_eq!(size(&noise), 0, "full");
    }

    #[test]
    fn directories_of_other_versions_are_ignored() {
        assert!(Directory::decode("1 8192 3 100 50").is_some());
        for text in ["", "2 8192 3 100 50", "1 0 3 100 50", "1 8192 3 100", "1 8192 3 100 50 6", "1 8192 3 100 x"] {
            assert!(Directory::decode(text).is_none(), "{text:?}");
        }
    }
}
