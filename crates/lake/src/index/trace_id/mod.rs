//! Where in a part a trace may lie: an index of all trace ids in a few bits each, one per part.
//!
//! Every id is hashed to a number of a range some times wider than there are ids; the numbers, sorted, are written as
//! their distances (Rice codes), each with the block of rows it was seen in. A number that is not there rules the whole
//! part out; one that is there names a block or two. A look-up reads the few hundred bytes of one [`BUCKET`], found by
//! the hash alone, so a trace without a time costs one small read per part instead of one per row group.
//!
//! - `builder`: the index of a part in the making. `codes`: the bits.
//!
//! The index is a section of the part's file, between the rows and the footer as roll-ups are, named by the metadata key
//! [`IDS`]. It takes the place of the column's bloom filters; parts without one, or with that of another version, are
//! searched by those.

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

/// File metadata, numbers separated by blanks: the version, rows per block, bits of a block's number, bits by which the
/// range of hashes is wider than there are entries, entries, offset and length.
pub const IDS: &str = "tidewatch.ids";

/// Bumped when the same ids make other bytes.
const VERSION: u64 = 1;

/// Of the number of a page, below a hash.
const PAGE_BITS: u32 = 20;
/// Entries of a bucket, on average: what one look-up decodes.
const BUCKET: u64 = 256;
/// More values than this are not looked up one by one.
pub const VALUES_MAX: usize = 64;

/// The column that is indexed; it has no bloom filter.
pub fn column(table: Table) -> Option<&'static str> {
    (table == Table::Spans).then_some("trace_id")
}

fn hash(id: &[u8]) -> u64 {
    // Ids are not always random. The low bits make room for the number of a page.
    xxh3_64(id) >> PAGE_BITS << PAGE_BITS
}

/// How entries are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    block_rows: usize,
    /// Of a block's number.
    block_bits: u32,
    /// The range of hashes is so many bits wider than there are entries: of `2^spare` ids that are not there, one seems
    /// to be.
    spare: u32,
    entries: u64,
}

impl Shape {
    /// The number that stands for a hash, ascending with it.
    fn number(self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(self.entries << self.spare)) >> 64) as u64
    }

    fn bucket(self, number: u64) -> u64 {
        number / (BUCKET << self.spare)
    }

    /// The least number of a bucket.
    fn first_of(self, bucket: u64) -> u64 {
        bucket * (BUCKET << self.spare)
    }

    fn buckets(self) -> u64 {
        self.entries.div_ceil(BUCKET)
    }

    /// Low bits of a distance that are written as they are.
    fn rice(self) -> u32 {
        self.spare.saturating_sub(1)
    }
}

/// Where a part's index lies, and the list of its buckets once somebody has asked.
#[derive(Debug)]
pub struct Ids {
    shape: Shape,
    place: Place,
    /// Of the list of buckets.
    sum: u64,
    buckets: OnceLock<Vec<Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// In bits.
    end: u32,
    sum: u32,
}

/// Blocks of a part's rows: so many rows each, ascending numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    pub rows: usize,
    pub numbers: Vec<usize>,
}

impl Ids {
    /// `None` when it is of another version, or no directory.
    pub fn decode(text: &str) -> Option<Ids> {
        let numbers: Vec<u64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [VERSION, block_rows, block_bits, spare, entries, offset, length, sum] = numbers[..] else { return None };
        let is_sound =
            block_rows > 0 && block_bits <= u64::from(PAGE_BITS) && spare <= 16 && (1..1 << 40).contains(&entries);
        let place = Place { offset, length };
        let (block_rows, block_bits, spare) = (block_rows as usize, block_bits as u32, spare as u32);
        let shape = Shape { block_rows, block_bits, spare, entries };
        let ids = Ids { shape, place, sum, buckets: OnceLock::new() };
        (is_sound && ids.list_bytes() as u64 <= length).then_some(ids)
    }

    pub fn place(&self) -> Place {
        self.place
    }

    /// Bytes of the list of buckets.
    fn list_bytes(&self) -> usize {
        self.shape.buckets() as usize * size_of::<Bucket>()
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

    /// The blocks that may hold one of the values. `read` gives bytes of the part's file. `None`: what it gives is not
    /// the index that was written.
    pub fn blocks<'a, E>(
        &self,
        values: impl Iterator<Item = &'a [u8]>,
        read: impl Fn(Place) -> Result<Vec<u8>, E>,
    ) -> Result<Option<Blocks>, E> {
        let Some(buckets) = self.buckets(&read)? else { return Ok(None) };
        let mut numbers = Vec::new();
        for value in values {
            let number = self.shape.number(hash(value));
            let bucket = self.shape.bucket(number);
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
            if find(&mut reader, self.shape, number - self.shape.first_of(bucket), &mut numbers).is_none() {
                return Ok(None);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Some(Blocks { rows: self.shape.block_rows, numbers }))
    }
}

/// Of the bytes of a bucket, those included that it shares with its neighbours.
fn sum_of(bytes: &[u8]) -> u32 {
    xxh3_64(bytes) as u32
}

/// Collects the blocks of a number, counted from the bucket's first. `None`: the bits are no bucket.
fn find(reader: &mut Reader<'_>, shape: Shape, number: u64, blocks: &mut Vec<usize>) -> Option<()> {
    let mut at = 0_u64;
    while !reader.is_empty() {
        at = at.checked_add(reader.rice(shape.rice())?)?;
        let block = reader.bits(shape.block_bits)?;
        if at > number {
            break;
        }
        if at == number {
            blocks.push(block as usize);
        }
    }
    Some(())
}
