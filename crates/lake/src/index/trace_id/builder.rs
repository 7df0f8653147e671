//! Builds the trace id index of a part while it is written.

use arrow::array::RecordBatch;
use xxhash_rust::xxh3::xxh3_64;

use super::codes::Writer;
use super::{Bucket, Layout, PAGE_BITS, VERSION, column, hash, sum_of};
use crate::batch::cells::cells;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// Pages per block when most traces have one span, so that entries cost nearly as much per span as per trace. Otherwise
/// a block is one page.
const PAGES_WIDE: u64 = 16;
/// An absent id is a false positive in one of `2^this` parts.
const SPARE_FINE: u32 = 6;
const SPARE_COARSE: u32 = 2;
/// Rows per entry from which blocks are fine: one page each.
const ROWS_FINE: u64 = 3;

/// Collects ids while rows are written, in the part's order.
pub struct Builder {
    column: &'static str,
    page_rows: u64,
    rows: u64,
    /// The high bits of an id's hash, then the number of its page.
    entries: Vec<u64>,
    /// The id of the last row. Rows of a trace are adjacent.
    last: Vec<u8>,
    last_page: u64,
}

/// A finished index.
pub struct Section {
    /// Bytes of the section in the part's file.
    pub bytes: Vec<u8>,
    /// Value of the metadata key [`super::IDS`].
    pub directory: String,
}

impl Builder {
    /// `None` for a table without this index. `page_rows`: rows per page of the part.
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

    /// Adds rows, in the part's order. Fails when the batch lacks the indexed column.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        let ids = cells(batch, self.column)?;
        (0..batch.num_rows()).for_each(|row| self.add_id(ids.bytes(row)));
        Ok(())
    }

    /// Adds the rows at `places` (index of batch, row), in the part's order. Fails when a batch lacks the indexed
    /// column.
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

    /// The index, to be written at `offset` of the file. `None` without rows, or when the part is too large for it.
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
        let layout = Layout {
            block_rows: (self.page_rows * wide) as usize,
            block_bits: u64::BITS - (blocks - 1).leading_zeros(),
            spare,
            entries: entries.len() as u64,
        };
        let mut writer = Writer::default();
        let mut ends: Vec<u32> = Vec::with_capacity(layout.buckets() as usize);
        let (mut base, mut last) = (0, None);
        for entry in entries {
            let hash = entry >> PAGE_BITS << PAGE_BITS;
            let block = (entry & ((1 << PAGE_BITS) - 1)) / wide;
            let number = layout.number(hash);
            if last == Some((number, block)) {
                continue;
            }
            last = Some((number, block));
            while layout.bucket(number) > ends.len() as u64 {
                ends.push(writer.len() as u32);
                base = layout.first_of(ends.len() as u64);
            }
            writer.rice(number - base, layout.rice());
            writer.bits(block, layout.block_bits);
            base = number;
        }
        let bits = writer.len();
        if bits > u64::from(u32::MAX) {
            return None;
        }
        ends.resize(layout.buckets() as usize, bits as u32);
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
        let Layout { block_rows, block_bits, spare, entries } = layout;
        let directory = format!("{VERSION} {block_rows} {block_bits} {spare} {entries} {offset} {} {sum}", bytes.len());
        Some(Section { bytes, directory })
    }
}
