//! The trace id index: for each part, the blocks of rows in which a trace id may occur, in a few bits per id.
//!
//! Every id is hashed to a number in a range several times as large as the number of ids. The sorted numbers are
//! written as differences (Rice codes), each with the block of rows in which the id occurs. An absent number rules out
//! the whole part; a present one gives one or two blocks. A look-up reads the few hundred bytes of one [`BUCKET`],
//! located by the hash alone, so a query for a trace without a time range costs one small read per part instead of one
//! per row group.
//!
//! - `builder` builds the index; `codes` reads and writes its bits.
//!
//! The index is a section of the part's file between the rows and the footer, located by the metadata key [`IDS`]. It
//! replaces the column's bloom filters. Parts without the section, or with another version of it, are searched by their
//! bloom filters.
//!
//! Invariant: no block that contains the trace is ruled out (decision 0008).

mod builder;
mod codes;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::rollup::directory::Place;
use codes::Reader;
use tidewatch_store::tables::Table;
use xxhash_rust::xxh3::xxh3_64;

pub use builder::Builder;
pub use tidewatch_columnar::page::PAGE_ROWS;

/// Metadata key. Value: numbers separated by blanks: the version, rows per block, bits of a block's number, bits by
/// which the range of hashes exceeds the number of entries, entries, offset, length, and checksum of the list of
/// buckets.
pub const IDS: &str = "tidewatch.ids";

/// Incremented when the same ids give other bytes.
const VERSION: u64 = 1;

/// Bits of a page number, below the hash in an entry.
const PAGE_BITS: u32 = 20;
/// Average entries per bucket: one look-up decodes one bucket.
const BUCKET: u64 = 256;
/// Queries for more ids than this do not use the index.
pub const VALUES_MAX: usize = 64;

/// The indexed column, which has no bloom filter; `None` for a table without this index.
pub fn column(table: Table) -> Option<&'static str> {
    (table == Table::Spans).then_some("trace_id")
}

fn hash(id: &[u8]) -> u64 {
    // Ids are not always random, so they are hashed. The low bits are left for a page number.
    xxh3_64(id) >> PAGE_BITS << PAGE_BITS
}

/// How entries are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    block_rows: usize,
    /// Bits of a block's number.
    block_bits: u32,
    /// Bits by which the range of hashes exceeds the number of entries: one of `2^spare` absent ids is a false
    /// positive.
    spare: u32,
    entries: u64,
}

impl Layout {
    /// Maps a hash to a number of the range, monotonically.
    fn number(self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(self.entries << self.spare)) >> 64) as u64
    }

    fn bucket(self, number: u64) -> u64 {
        number / (BUCKET << self.spare)
    }

    /// The lowest number of a bucket.
    fn first_of(self, bucket: u64) -> u64 {
        bucket * (BUCKET << self.spare)
    }

    fn buckets(self) -> u64 {
        self.entries.div_ceil(BUCKET)
    }

    /// The number of low bits in the Rice code of a difference.
    fn rice(self) -> u32 {
        self.spare.saturating_sub(1)
    }
}

/// The trace id index of a part: its location, and the list of its buckets once it was read.
#[derive(Debug)]
pub struct TraceIdIndex {
    layout: Layout,
    place: Place,
    /// Checksum of the list of buckets.
    sum: u64,
    buckets: OnceLock<Vec<Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// End of the bucket's codes, in bits.
    end: u32,
    /// Checksum of the bytes of the codes.
    sum: u32,
}

/// Blocks of a part's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Rows per block.
    pub rows: usize,
    /// Numbers of blocks, ascending.
    pub numbers: Vec<usize>,
}

impl TraceIdIndex {
    /// Parses the value of [`IDS`]. `None` when it is of another version, or malformed.
    pub fn decode(text: &str) -> Option<TraceIdIndex> {
        let numbers: Vec<u64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [VERSION, block_rows, block_bits, spare, entries, offset, length, sum] = numbers[..] else { return None };
        let is_sound =
            block_rows > 0 && block_bits <= u64::from(PAGE_BITS) && spare <= 16 && (1..1 << 40).contains(&entries);
        let place = Place { offset, length };
        let (block_rows, block_bits, spare) = (block_rows as usize, block_bits as u32, spare as u32);
        let layout = Layout { block_rows, block_bits, spare, entries };
        let ids = TraceIdIndex { layout, place, sum, buckets: OnceLock::new() };
        (is_sound && ids.list_bytes() as u64 <= length).then_some(ids)
    }

    /// Offset and length of the index in the part's file.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Size of the list of buckets in bytes.
    fn list_bytes(&self) -> usize {
        self.layout.buckets() as usize * size_of::<Bucket>()
    }

    fn buckets<E>(&self, read: impl Fn(Place) -> Result<Vec<u8>, E>) -> Result<Option<&[Bucket]>, E> {
        if self.buckets.get().is_none() {
            let bytes = read(Place { length: self.list_bytes() as u64, ..self.place })?;
            let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
            let buckets = bytes.as_chunks().0.iter().map(number);
            let buckets: Vec<Bucket> =
                buckets.map(|both| Bucket { end: both as u32, sum: (both >> 32) as u32 }).collect();
            let last = buckets.last().map_or(0, |last| u64::from(last.end));
            let fits = last.div_ceil(8) + bytes.len() as u64 <= self.place.length;
            if xxh3_64(&bytes) != self.sum || !fits || !buckets.is_sorted_by_key(|bucket| bucket.end) {
                return Ok(None);
            }
            let _ = self.buckets.set(buckets);
        }
        Ok(self.buckets.get().map(Vec::as_slice))
    }

    /// The blocks in which one of the ids `values` may occur. `read` returns bytes of the part's file. `None` when
    /// these are not the index that was written; an error when `read` fails.
    pub fn blocks<'a, E>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
        read: impl Fn(Place) -> Result<Vec<u8>, E>,
    ) -> Result<Option<Blocks>, E> {
        let Some(buckets) = self.buckets(&read)? else { return Ok(None) };
        let mut numbers = Vec::new();
        for value in values {
            let number = self.layout.number(hash(value));
            let bucket = self.layout.bucket(number);
            let Some(&Bucket { end, sum }) = buckets.get(bucket as usize) else { continue };
            let start = (bucket as usize).checked_sub(1).map_or(0, |before| buckets[before].end);
            if start == end {
                continue;
            }
            let first = u64::from(start / 8);
            let offset = self.place.offset + self.list_bytes() as u64 + first;
            let bytes = read(Place { offset, length: u64::from(end).div_ceil(8) - first })?;
            if sum_of(&bytes) != sum {
                return Ok(None);
            }
            let mut reader = Reader::new(&bytes, start % 8, end - start / 8 * 8);
            if find(&mut reader, self.layout, number - self.layout.first_of(bucket), &mut numbers).is_none() {
                return Ok(None);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Some(Blocks { rows: self.layout.block_rows, numbers }))
    }
}

/// The checksum of a bucket's bytes, including bytes shared with adjacent buckets.
fn sum_of(bytes: &[u8]) -> u32 {
    xxh3_64(bytes) as u32
}

/// Appends the blocks of `number`, which is relative to the bucket's lowest. `None` when the bits are not a bucket.
fn find(reader: &mut Reader<'_>, layout: Layout, number: u64, blocks: &mut Vec<usize>) -> Option<()> {
    let mut at = 0_u64;
    while !reader.is_empty() {
        at = at.checked_add(reader.rice(layout.rice())?)?;
        let block = reader.bits(layout.block_bits)?;
        if at > number {
            break;
        }
        if at == number {
            blocks.push(block as usize);
        }
    }
    Some(())
}
