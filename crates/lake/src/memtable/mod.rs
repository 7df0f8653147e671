//! Rows that are in no part yet: one thread writes them, and queries see them at once.
//!
//! Each table has a list of immutable Arrow batches and one growing buffer. A query gets the batches without a copy.
//! The growing buffer becomes one more batch when it has many rows; otherwise the query gets a copy, which is reused
//! until the buffer grows. Writers wait meanwhile, so neither may take long. Metric points of a series are adjacent in
//! a batch.

pub(crate) mod buffer_pool;
pub mod counts;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_journal::Position;

use super::sort;
use crate::ingest::usage::{self, Correction};
use crate::memtable::buffer_pool::BufferPool;
use crate::memtable::counts::Counts;
use tidewatch_store::columns::{Pick, Rows, TableBuffer, TableRows};
use tidewatch_store::tables::Table;

/// A growing buffer becomes a batch at this many rows or bytes.
const CHUNK_ROWS: usize = 8192;
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// A buffer with more rows than this is not copied for a query …
const COPIED_ROWS_MAX: usize = 512;
/// … unless its rows take less than one in this many bytes of its capacity.
const SPARSE_FACTOR: usize = 4;

pub struct Memtable {
    tables: Vec<TableMemory>,
    buffer_pool: Arc<BufferPool>,
    counts: Counts,
    counts_snapshot: Option<RecordBatch>,
    /// Every journal record up to here is in this memtable, an older one, or parts.
    pub position: Position,
    /// The time of the first request; `None` while there is nothing to flush.
    pub since: Option<Instant>,
    /// The latest time of receipt of its requests, at least the trusted time. `None` while it has no request.
    pub received_max: Option<i64>,
    rows: usize,
    bytes: usize,
}

struct TableMemory {
    chunks: Vec<RecordBatch>,
    /// Memory of the batches, in bytes.
    chunk_bytes: usize,
    growing: TableBuffer,
    snapshot: Option<RecordBatch>,
}

/// An immutable memtable that is waiting to be flushed.
pub struct Sealed {
    /// By table number.
    pub tables: Vec<Vec<RecordBatch>>,
    pub position: Position,
    pub received_max: Option<i64>,
    /// Like [`Memtable::bytes`] and [`Memtable::held`].
    pub bytes: usize,
    pub held: usize,
    /// Number of flushes that failed because of the rows, not of the disk.
    pub defects: AtomicU32,
}

impl Memtable {
    /// Starts an empty memtable that uses the buffers of `buffer_pool` first.
    pub fn new(position: Position, buffer_pool: Arc<BufferPool>) -> Memtable {
        let table = |table| TableMemory {
            chunks: Vec::new(),
            chunk_bytes: 0,
            growing: TableBuffer::new(table),
            snapshot: None,
        };
        Memtable {
            tables: Table::ALL.into_iter().map(table).collect(),
            buffer_pool,
            counts: Counts::default(),
            counts_snapshot: None,
            position,
            since: None,
            received_max: None,
            rows: 0,
            bytes: 0,
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Size of the rows, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Memory of the rows in bytes, spare capacity included.
    pub fn held(&self) -> usize {
        self.tables.iter().map(TableMemory::held).sum()
    }

    /// Appends the rows of records that are no duplicates (`duplicates` by record; `None`: none is a duplicate).
    pub fn append(&mut self, rows: Rows, duplicates: Option<&[bool]>) {
        for mut table in rows.tables {
            let keep: Option<Vec<bool>> =
                duplicates.map(|duplicates| table.records.iter().map(|record| !duplicates[*record as usize]).collect());
            let memory = &mut self.tables[table.buffer.table() as usize];
            let (rows, bytes) = memory.append(&mut table, keep.as_deref(), &self.buffer_pool);
            self.rows += rows;
            self.bytes += bytes;
        }
    }

    pub fn counted(&self) -> &Counts {
        &self.counts
    }

    /// The counts, for changes; the next query sees these.
    pub fn counts(&mut self) -> &mut Counts {
        self.counts_snapshot = None;
        &mut self.counts
    }

    /// The current rows of a table.
    pub fn snapshot(&mut self, table: Table) -> Vec<RecordBatch> {
        if table == Table::IngestCounts {
            if self.counts.is_empty() {
                return Vec::new();
            }
            return vec![self.counts_snapshot.get_or_insert_with(|| self.counts.to_batch()).clone()];
        }
        let memory = &mut self.tables[table as usize];
        if memory.growing.rows() > COPIED_ROWS_MAX {
            memory.cut_early();
        }
        let mut batches = memory.chunks.clone();
        if memory.growing.rows() > 0 {
            batches.push(memory.snapshot.get_or_insert_with(|| memory.growing.clone().into_batch()).clone());
        }
        batches
    }

    /// Corrects rows of AI Traces. Returns the corrections whose rows it does not have.
    pub fn correct(&mut self, mut corrections: Vec<Correction>) -> Vec<Correction> {
        if !corrections.is_empty() {
            self.tables[Table::AiTraces as usize].correct(&mut corrections);
        }
        corrections
    }

    pub fn rows_of(&self, table: Table) -> usize {
        match table {
            Table::IngestCounts => self.counts.len(),
            _ => {
                let memory = &self.tables[table as usize];
                memory.chunks.iter().map(RecordBatch::num_rows).sum::<usize>() + memory.growing.rows()
            }
        }
    }

    pub fn seal(mut self) -> Sealed {
        let held = self.held();
        let tables = Table::ALL.into_iter().map(|table| self.snapshot_owned(table)).collect();
        let (position, received_max, bytes) = (self.position, self.received_max, self.bytes);
        Sealed { tables, position, received_max, bytes, held, defects: AtomicU32::new(0) }
    }

    fn snapshot_owned(&mut self, table: Table) -> Vec<RecordBatch> {
        if table == Table::IngestCounts {
            return self.snapshot(table);
        }
        self.tables[table as usize].end()
    }
}

impl Sealed {
    /// Moves the buffers that have no other owner to `buffer_pool`.
    pub fn recycle_into(self, buffer_pool: &BufferPool) {
        for (table, batches) in Table::ALL.into_iter().zip(self.tables) {
            if table != Table::IngestCounts {
                batches.into_iter().for_each(|batch| buffer_pool.give(table, batch));
            }
        }
    }
}

impl TableMemory {
    fn held(&self) -> usize {
        self.chunk_bytes + self.growing.capacity_bytes()
    }

    /// Returns the numbers of rows and bytes added.
    fn append(&mut self, table: &mut TableRows, keep: Option<&[bool]>, buffer_pool: &BufferPool) -> (usize, usize) {
        self.snapshot = None;
        // A large request becomes a batch without a copy.
        if keep.is_none() && is_chunk(&table.buffer) {
            let added = (table.buffer.rows(), table.buffer.bytes());
            self.push(table.take_buffer());
            return added;
        }
        if self.growing.capacity_bytes() == 0
            && let Some(chunk) = buffer_pool.take(table.buffer.table(), 0)
        {
            self.growing = chunk;
        }
        let before = (self.growing.rows(), self.growing.bytes());
        self.growing.append(&table.buffer, keep.map_or(Pick::All, Pick::Kept));
        let added = (self.growing.rows() - before.0, self.growing.bytes() - before.1);
        if is_chunk(&self.growing) {
            self.cut(buffer_pool);
        }
        added
    }

    /// Makes the growing buffer a batch; the next buffer has the same capacity.
    fn cut(&mut self, buffer_pool: &BufferPool) {
        let taken = buffer_pool.take(self.growing.table(), self.growing.capacity_bytes());
        let mut next = taken.unwrap_or_else(|| TableBuffer::as_large_as(&self.growing));
        // Grouped while they are in the processor's cache; a flush would access the memory of all rows at random.
        if let Some(order) = self.growing.series().and_then(sort::group_equal) {
            next.append(&self.growing, Pick::Order(&order));
            self.growing.clear();
            return self.push(next);
        }
        let grown = std::mem::replace(&mut self.growing, next);
        self.push(grown);
    }

    /// Makes the growing buffer a batch before it is full, for a query.
    fn cut_early(&mut self) {
        if self.growing.bytes() * SPARSE_FACTOR < self.growing.capacity_bytes() {
            let rows = self.growing.clone();
            self.growing.clear();
            return self.push(rows);
        }
        let next = TableBuffer::as_large_as(&self.growing);
        let grown = std::mem::replace(&mut self.growing, next);
        self.push(grown);
    }

    /// Makes the growing buffer the last batch, and returns all batches.
    fn end(&mut self) -> Vec<RecordBatch> {
        let next = TableBuffer::new(self.growing.table());
        let grown = std::mem::replace(&mut self.growing, next);
        if grown.rows() > 0 {
            self.push(grown);
        }
        std::mem::take(&mut self.chunks)
    }

    /// Corrects the rows that it has, and removes their corrections.
    fn correct(&mut self, corrections: &mut Vec<Correction>) {
        let growing = &mut self.growing;
        let mut found = Vec::new();
        if let (Some(ids), Some(times)) = (growing.id16s("row_id"), growing.i64("time")) {
            corrections.retain(|correction| {
                let is_row = |row: &usize| ids[*row] == correction.row.id && times[*row] == correction.row.time;
                let row = (0..ids.len()).rev().find(is_row);
                found.extend(row.map(|row| (row, correction.repeats)));
                row.is_none()
            });
        }
        if !found.is_empty() {
            self.snapshot = None;
            found.into_iter().for_each(|(row, repeats)| {
                growing.set_optional_bool("repeats_usage", row, repeats.then_some(true));
            });
        }
        for chunk in self.chunks.iter_mut().rev() {
            if corrections.is_empty() {
                return;
            }
            if let Some(changed) = usage::corrected(chunk, corrections) {
                *chunk = changed;
            }
        }
    }

    fn push(&mut self, rows: TableBuffer) {
        self.snapshot = None;
        self.chunk_bytes += rows.capacity_bytes();
        self.chunks.push(rows.into_batch());
    }
}

fn is_chunk(buffer: &TableBuffer) -> bool {
    buffer.rows() >= CHUNK_ROWS || buffer.bytes() >= CHUNK_BYTES
}
