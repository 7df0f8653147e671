//! Which blocks of rows cannot contain a text: a filter of three-byte sequences over the bodies of logs.
//!
//! A part's texts are taken in blocks of [`BLOCK_ROWS`] rows, lower-cased (ASCII). Every three bytes in a row set one
//! bit of the block's table, chosen by their hash; a text that contains a needle has all bits of the needle set. A table
//! is folded in half while it stays thin enough, so that few texts, or texts much alike, cost few bytes: at most a
//! byte a row, a quarter of that for what services usually write. Full tables are left out: those blocks are read.
//!
//! The tables of a part are a section of its file, between the rows and the footer as roll-ups are, named by the
//! metadata key [`GRAMS`]. Parts without one, or with that of another version, are searched whole.

use bytes::Bytes;

use arrow::array::RecordBatch;

use crate::batch::cells::{Cells, cells};
use crate::rollup::directory::Place;
use tidewatch_columnar::page::PAGE_ROWS;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// File metadata, numbers separated by blanks: the version, rows per block, number of blocks, offset and length.
pub const GRAMS: &str = "tidewatch.grams";

/// Bumped when the same texts set other bits.
const VERSION: u64 = 1;

/// Rows of a block: those of a page at most, for pages are read whole.
pub const BLOCK_ROWS: usize = PAGE_ROWS;

/// Bits of a table, as powers of two: as made, and the least that folding leaves.
const MOST: u8 = 16;
const LEAST: u8 = 6;
/// Folding ends before more than three of eight bits are set.
const FILL: (u64, u64) = (3, 8);
/// Beyond this share of bits a table rules out too little to be kept.
const FULL: (u64, u64) = (3, 4);
/// In place of a table's size: there is no table.
const NO_TABLE: u8 = 0;

/// The texts that are covered.
pub fn column(table: Table) -> Option<&'static str> {
    (table == Table::Logs).then_some("body")
}

/// The bit of three bytes, lower-cased, the first one lowest; the low bits choose in folded tables.
#[inline]
fn bit_of(gram: u32) -> u16 {
    (gram.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Bytes of a text that are looked at in one go, by instructions that take many at once.
const STRIDE: usize = 32;

/// Calls `each` with the bit of every three bytes in a row.
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

/// The bits that every text with this needle has set; none for a needle of less than three bytes.
pub fn bits_of(needle: &[u8]) -> Vec<u16> {
    let mut bits = Vec::new();
    for_each_bit(needle, |bit| bits.push(bit));
    bits.sort_unstable();
    bits.dedup();
    bits
}

/// The tables of a part in the making.
pub struct Builder {
    column: &'static str,
    block_rows: usize,
    /// Rows in the block that is not full yet.
    rows: usize,
    /// Of that block, by bit: 1 when it is set. A byte is set without looking at it.
    seen: Box<[u8; 1 << MOST]>,
    /// Of each block, the table's size as a power of two.
    sizes: Vec<u8>,
    tables: Vec<u8>,
}

/// Finished tables: bytes for the part's file, and what its metadata says of them.
pub struct Section {
    pub bytes: Vec<u8>,
    pub directory: String,
}

impl Builder {
    /// `None` for a table whose texts are not covered.
    pub fn new(table: Table, block_rows: usize) -> Option<Builder> {
        let seen = Box::new([0; 1 << MOST]);
        let new = |column| Builder { column, block_rows, rows: 0, seen, sizes: Vec::new(), tables: Vec::new() };
        column(table).map(new)
    }

    /// Adds rows, in the part's order.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let texts = cells(batch, self.column)?;
        let mut row = 0;
        while row < batch.num_rows() {
            let end = batch.num_rows().min(row + self.block_rows - self.rows);
            self.add_rows(&texts, row..end);
            self.rows += end - row;
            row = end;
            if self.rows == self.block_rows {
                self.close();
            }
        }
        Ok(())
    }

    /// Adds the rows at these places (batch, row), in the part's order.
    pub fn add_places(&mut self, batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<(), StoreError> {
        let texts: Vec<Cells<'_>> = batches.iter().map(|batch| cells(batch, self.column)).collect::<Result<_, _>>()?;
        for &(batch, row) in places {
            self.add_rows(&texts[batch], row..row + 1);
            self.rows += 1;
            if self.rows == self.block_rows {
                self.close();
            }
        }
        Ok(())
    }

    fn add_rows(&mut self, texts: &Cells<'_>, rows: std::ops::Range<usize>) {
        let seen = &mut *self.seen;
        for row in rows {
            if !texts.is_null(row) {
                for_each_bit(texts.bytes(row), |bit| seen[usize::from(bit)] = 1);
            }
        }
    }

    fn close(&mut self) {
        self.rows = 0;
        let word = |bits: &[u8]| (0..64).fold(0, |word, bit| word | u64::from(bits[bit]) << bit);
        let mut table: Vec<u64> = self.seen.chunks_exact(64).map(word).collect();
        self.seen.fill(0);
        let mut words = table.len();
        let set = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let is_over = |(part, of): (u64, u64), set: u64, words: usize| set * of > part * words as u64 * 64;
        if is_over(FULL, set(&table), words) {
            return self.sizes.push(NO_TABLE);
        }
        let least = 1 << (LEAST - 6);
        while words > least {
            let (low, high) = table[..words].split_at(words / 2);
            let folded: u64 = low.iter().zip(high).map(|(low, high)| u64::from((low | high).count_ones())).sum();
            if is_over(FILL, folded, words / 2) {
                break;
            }
            let (low, high) = table[..words].split_at_mut(words / 2);
            low.iter_mut().zip(high).for_each(|(low, high)| *low |= *high);
            words /= 2;
        }
        self.sizes.push(6 + words.trailing_zeros() as u8);
        table[..words].iter().for_each(|word| self.tables.extend(word.to_le_bytes()));
    }

    /// The section, to be written at `offset` of the file; `None` without rows.
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

/// Where a part's tables lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directory {
    pub block_rows: usize,
    blocks: usize,
    pub place: Place,
}

impl Directory {
    /// `None` when it is of another version, or no directory.
    pub fn decode(text: &str) -> Option<Directory> {
        let numbers: Vec<u64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [VERSION, block_rows, blocks, offset, length] = numbers[..] else { return None };
        let place = Place { offset, length };
        (block_rows > 0).then_some(Directory { block_rows: block_rows as usize, blocks: blocks as usize, place })
    }
}

/// The tables of a part.
pub struct Grams {
    pub block_rows: usize,
    /// Of each block; empty when it has none.
    tables: Vec<Bytes>,
}

impl Grams {
    /// `None` when the bytes are not what a [`Builder`] makes.
    pub fn decode(directory: &Directory, bytes: &Bytes) -> Option<Grams> {
        let sizes = bytes.get(..directory.blocks)?;
        let mut from = directory.blocks;
        let mut tables = Vec::with_capacity(sizes.len());
        for size in sizes {
            let length = match *size {
                NO_TABLE => 0,
                size if (LEAST..=MOST).contains(&size) => 1 << (size - 3),
                _ => return None,
            };
            let end = (from + length <= bytes.len()).then_some(from + length)?;
            tables.push(bytes.slice(from..end));
            from = end;
        }
        (from == bytes.len()).then_some(Grams { block_rows: directory.block_rows, tables })
    }

    pub fn blocks(&self) -> usize {
        self.tables.len()
    }

    /// False when no text of the block has all these bits.
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

    fn grams(texts: &[String], block_rows: usize, pieces: usize) -> Option<Grams> {
        let mut builder = Builder::new(Table::Logs, block_rows).unwrap();
        for piece in texts.chunks(pieces) {
            let array: ArrayRef = Arc::new(piece.iter().map(Some).collect::<StringArray>());
            builder.add(&RecordBatch::try_from_iter([("body", array)]).unwrap()).unwrap();
        }
        let section = builder.finish(7)?;
        let directory = Directory::decode(&section.directory).unwrap();
        assert_eq!(directory.place, Place { offset: 7, length: section.bytes.len() as u64 });
        let bytes = Bytes::from(section.bytes);
        assert!(Grams::decode(&directory, &bytes.slice(1..)).is_none(), "cut short");
        Some(Grams::decode(&directory, &bytes).unwrap())
    }

    proptest! {
        /// A block that contains the needle is never ruled out, whatever the case of its letters.
        #[test]
        fn what_is_there_is_found(
            texts in prop::collection::vec("[a-dA-D0-2é日 ]{0,12}", 1..40),
            row in any::<prop::sample::Index>(),
            (from, length) in (0..12_usize, 0..6_usize),
            (block_rows, pieces) in (1..9_usize, 1..9_usize),
        ) {
            let grams = grams(&texts, block_rows, pieces).unwrap();
            prop_assert_eq!(grams.blocks(), texts.len().div_ceil(block_rows));
            let row = row.index(texts.len());
            let text = texts[row].as_bytes();
            let from = from.min(text.len());
            let needle = &text[from..text.len().min(from + length)];
            prop_assert!(grams.may_have(row / block_rows, &bits_of(needle)));
            prop_assert!(grams.may_have(row / block_rows, &bits_of(&needle.to_ascii_uppercase())));
        }
    }

    /// What parts on disk hold: other bits want another version.
    #[test]
    fn bits_stay_what_they_are() {
        assert_eq!(bits_of(b"TimeOut"), [1120, 6027, 6367, 17001, 34406]);
        let text = b"GET /orders/4711 took 93 ms: upstream timed out, trying again";
        let mut each: Vec<u16> = text.windows(3).flat_map(bits_of).collect();
        each.sort_unstable();
        each.dedup();
        assert_eq!(bits_of(text), each, "of a long text as of its pieces");
    }

    #[test]
    fn rows_picked_from_batches_count_as_rows_in_order() {
        let batch = |texts: &[&str]| {
            let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
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
    fn what_is_not_there_is_ruled_out() {
        let texts: Vec<String> = (0..64).map(|n| format!("GET /orders/{n} took {} ms", n * 7)).collect();
        let grams = grams(&texts, 16, 5).unwrap();
        let found = |needle: &str| -> Vec<usize> {
            (0..grams.blocks()).filter(|block| grams.may_have(*block, &bits_of(needle.as_bytes()))).collect()
        };
        assert!(found("orders/63").contains(&3) && found("orders/63").len() < 4);
        assert!(found("ORDERS/1 T").contains(&0));
        assert!(found("xylograph").is_empty());
        assert_eq!(found("xy"), [0, 1, 2, 3], "two letters rule out nothing");
        assert!(grams.may_have(99, &bits_of(b"xylograph")), "a block nobody knows");
    }

    #[test]
    fn tables_are_as_large_as_they_need_to_be() {
        let size = |texts: &[String]| grams(texts, BLOCK_ROWS, 1000).unwrap().tables[0].len();
        assert_eq!(size(&["short".to_owned()]), 8);
        let numbers: Vec<String> = (0..BLOCK_ROWS).map(|n| format!("user {n} logged in")).collect();
        assert!((256..=1024).contains(&size(&numbers)), "{}", size(&numbers));
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<String> = (0..BLOCK_ROWS).map(|_| (0..100).map(|_| random.char(' '..='~')).collect()).collect();
        assert_eq!(size(&noise), 0, "full");
    }

    #[test]
    fn directories_of_other_versions_are_left_alone() {
        assert!(Directory::decode("1 8192 3 100 50").is_some());
        for text in ["", "2 8192 3 100 50", "1 0 3 100 50", "1 8192 3 100", "1 8192 3 100 50 6", "1 8192 3 100 x"] {
            assert!(Directory::decode(text).is_none(), "{text:?}");
        }
    }
}
