//! The index of a part in the making.

use arrow::array::RecordBatch;
use xxhash_rust::xxh3::xxh3_64;

use super::codes::Writer;
use super::{Bucket, PAGE_BITS, Shape, VERSION, column, hash, sum_of};
use crate::batch::cells::cells;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// Pages of a block, where each trace has hardly more than one span and an entry costs nearly as much per span as per
/// trace; else a block is a page.
const PAGES_WIDE: u64 = 16;
/// An id that is not there seems to be in one of `2^this` parts.
const SPARE_FINE: u32 = 6;
const SPARE_COARSE: u32 = 2;
/// Rows per entry from which blocks are fine.
const ROWS_FINE: u64 = 3;

/// Collects ids as rows are written, in the part's order.
pub struct Builder {
    column: &'static str,
    page_rows: u64,
    rows: u64,
    /// The high bits of an id's hash, then the page it was seen in.
    entries: Vec<u64>,
    /// Rows of a trace lie together.
    last: Vec<u8>,
    last_page: u64,
}

/// A finished index: bytes for the part's file, and what its metadata says of them.
pub struct Section {
    pub bytes: Vec<u8>,
    pub directory: String,
}

impl Builder {
    /// `None` for a table that is not looked up so.
    pub fn new(table: Table, page_rows: usize) -> Option<Builder> {
        let new = |column| Builder {
            column,
            page_rows: page_rows as u64,
            rows: 0,
            entries: Vec::new(),
            last: Vec::new(),
            last_page: u64::MAX,
        };
        column(table).map(new)
    }

    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let ids = cells(batch, self.column)?;
        (0..batch.num_rows()).for_each(|row| self.add_id(ids.bytes(row)));
        Ok(())
    }

    /// The rows at these places (batch, row).
    pub fn add_places(&mut self, batches: &[&RecordBatch], places: &[(usize, usize)]) -> Result<(), StoreError> {
        let ids: Vec<_> = batches.iter().map(|batch| cells(batch, self.column)).collect::<Result<_, _>>()?;
        places.iter().for_each(|&(batch, row)| self.add_id(ids[batch].bytes(row)));
        Ok(())
    }

    #[inline]
    fn add_id(&mut self, id: &[u8]) {
        let page = self.rows / self.page_rows;
        self.rows += 1;
        if page == self.last_page && id == self.last {
            return;
        }
        self.last_page = page;
        self.last.clear();
        self.last.extend_from_slice(id);
        self.entries.push(hash(id) | page);
    }

    /// The index, to be written at `offset` of the file. `None` when it would be of no use.
    pub fn finish(self, offset: u64) -> Option<Section> {
        let pages = self.rows.div_ceil(self.page_rows);
        if self.entries.is_empty() || pages >= 1 << PAGE_BITS {
            return None;
        }
        let is_fine = self.rows >= self.entries.len() as u64 * ROWS_FINE;
        let (wide, spare) = if is_fine { (1, SPARE_FINE) } else { (PAGES_WIDE, SPARE_COARSE) };
        let blocks = pages.div_ceil(wide);
        let mut entries = self.entries;
        entries.sort_unstable();
        let shape = Shape {
            block_rows: (self.page_rows * wide) as usize,
            block_bits: u64::BITS - (blocks - 1).leading_zeros(),
            spare,
            entries: entries.len() as u64,
        };
        let mut writer = Writer::default();
        let mut ends: Vec<u32> = Vec::with_capacity(shape.buckets() as usize);
        let (mut base, mut last) = (0, None);
        for entry in entries {
            let hash = entry >> PAGE_BITS << PAGE_BITS;
            let block = (entry & ((1 << PAGE_BITS) - 1)) / wide;
            let number = shape.number(hash);
            if last == Some((number, block)) {
                continue;
            }
            last = Some((number, block));
            while shape.bucket(number) > ends.len() as u64 {
                ends.push(writer.len() as u32);
                base = shape.first_of(ends.len() as u64);
            }
            writer.rice(number - base, shape.rice());
            writer.bits(block, shape.block_bits);
            base = number;
        }
        let bits = writer.len();
        if bits > u64::from(u32::MAX) {
            return None;
        }
        ends.resize(shape.buckets() as usize, bits as u32);
        let codes = writer.finish();
        let mut bytes = Vec::with_capacity(ends.len() * size_of::<Bucket>() + codes.len());
        let mut start = 0;
        for end in ends {
            bytes.extend(end.to_le_bytes());
            bytes.extend(sum_of(&codes[start as usize / 8..end.div_ceil(8) as usize]).to_le_bytes());
            start = end;
        }
        let sum = xxh3_64(&bytes);
        bytes.extend(codes);
        let Shape { block_rows, block_bits, spare, entries } = shape;
        let directory = format!("{VERSION} {block_rows} {block_bits} {spare} {entries} {offset} {} {sum}", bytes.len());
        Some(Section { bytes, directory })
    }
}
