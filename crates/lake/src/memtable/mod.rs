//! Rows that no part holds yet: written by one thread, seen by the next question.
//!
//! Per table a list of sealed Arrow batches and one growing buffer. A question gets the batches as they are; of the
//! growing buffer it makes one more when there is much in it, else it gets a copy, which is kept until the buffer grows
//! again. What is written meanwhile waits, so neither may take long. Points of a series lie together in a batch.

pub(crate) mod buffer_pool;
pub mod counts;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_journal::Position;

use super::sort;
use crate::memtable::buffer_pool::SpareChunks;
use crate::memtable::counts::Counts;
use tidewatch_store::columns::{Pick, Rows, TableBuffer, TableRows};
use tidewatch_store::tables::Table;

/// A growing buffer becomes a batch at this many rows or bytes.
const CHUNK_ROWS: usize = 8192;
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// More rows than this are not copied for a question …
const COPIED_ROWS_MAX: usize = 512;
/// … unless they are less than one in so many of what their buffer has room for.
const FILLED_LEAST: usize = 4;

pub struct Memtable {
    tables: Vec<TableMemory>,
    spare: Arc<SpareChunks>,
    counts: Counts,
    counts_snapshot: Option<RecordBatch>,
    /// Everything up to here in the journal is in this memtable, an older one, or parts.
    pub position: Position,
    /// When the first request after the last rotation came; `None` while there is nothing to flush.
    pub since: Option<Instant>,
    /// When its requests were received, the latest: at least the trusted time. `None` while it has none.
    pub received_max: Option<i64>,
    rows: usize,
    bytes: usize,
}

struct TableMemory {
    chunks: Vec<RecordBatch>,
    /// What they take.
    chunk_bytes: usize,
    growing: TableBuffer,
    snapshot: Option<RecordBatch>,
}

/// A memtable that no longer changes, waiting to be flushed.
pub struct Sealed {
    /// By table number.
    pub tables: Vec<Vec<RecordBatch>>,
    pub position: Position,
    pub received_max: Option<i64>,
    /// As [`Memtable::bytes`] and [`Memtable::held`].
    pub bytes: usize,
    pub held: usize,
    /// Flushes that failed on the rows themselves, not on the disk.
    pub defects: AtomicU32,
}

impl Memtable {
    /// Its rows are written to the memory of `spare` first.
    pub fn new(position: Position, spare: Arc<SpareChunks>) -> Memtable {
        let table = |table| TableMemory {
            chunks: Vec::new(),
            chunk_bytes: 0,
            growing: TableBuffer::new(table),
            snapshot: None,
        };
        Memtable {
            tables: Table::ALL.into_iter().map(table).collect(),
            spare,
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

    /// Of the rows.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that the rows take, room for more of them included.
    pub fn held(&self) -> usize {
        self.tables.iter().map(TableMemory::held).sum()
    }

    /// Appends the rows of records that are no duplicates (`duplicates` by record; `None`: none is).
    pub fn append(&mut self, rows: Rows, duplicates: Option<&[bool]>) {
        for mut table in rows.tables {
            let keep: Option<Vec<bool>> =
                duplicates.map(|duplicates| table.records.iter().map(|record| !duplicates[*record as usize]).collect());
            let memory = &mut self.tables[table.buffer.table() as usize];
            let (rows, bytes) = memory.append(&mut table, keep.as_deref(), &self.spare);
            self.rows += rows;
            self.bytes += bytes;
        }
    }

    pub fn counted(&self) -> &Counts {
        &self.counts
    }

    /// For writing; the next question sees it.
    pub fn counts(&mut self) -> &mut Counts {
        self.counts_snapshot = None;
        &mut self.counts
    }

    /// The rows of a table, as they are now.
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
    /// Its memory goes to the rows to come, as far as nobody else looks at it.
    pub fn leave_to(self, spare: &SpareChunks) {
        for (table, batches) in Table::ALL.into_iter().zip(self.tables) {
            if table != Table::IngestCounts {
                batches.into_iter().for_each(|batch| spare.give(table, batch));
            }
        }
    }
}

impl TableMemory {
    fn held(&self) -> usize {
        self.chunk_bytes + self.growing.capacity_bytes()
    }

    /// Rows and bytes added.
    fn append(&mut self, table: &mut TableRows, keep: Option<&[bool]>, spare: &SpareChunks) -> (usize, usize) {
        self.snapshot = None;
        // A large request stays as it is: no copy.
        if keep.is_none() && is_chunk(&table.buffer) {
            let added = (table.buffer.rows(), table.buffer.bytes());
            self.push(table.take_buffer());
            return added;
        }
        if self.growing.capacity_bytes() == 0
            && let Some(chunk) = spare.take(table.buffer.table(), 0)
        {
            self.growing = chunk;
        }
        let before = (self.growing.rows(), self.growing.bytes());
        self.growing.append(&table.buffer, keep.map_or(Pick::All, Pick::Kept));
        let added = (self.growing.rows() - before.0, self.growing.bytes() - before.1);
        if is_chunk(&self.growing) {
            self.cut(spare);
        }
        added
    }

    /// The growing buffer becomes a batch; the next is as large.
    fn cut(&mut self, spare: &SpareChunks) {
        let taken = spare.take(self.growing.table(), self.growing.capacity_bytes());
        let mut next = taken.unwrap_or_else(|| TableBuffer::as_large_as(&self.growing));
        // While they are in the processor's cache; a flush would look for each row in the memory of all.
        if let Some(order) = self.growing.series().and_then(sort::together) {
            next.append(&self.growing, Pick::Order(&order));
            self.growing.clear();
            return self.push(next);
        }
        let grown = std::mem::replace(&mut self.growing, next);
        self.push(grown);
    }

    /// The growing buffer becomes a batch, whatever it has, for a question.
    fn cut_early(&mut self) {
        if self.growing.bytes() * FILLED_LEAST < self.growing.capacity_bytes() {
            let rows = self.growing.clone();
            self.growing.clear();
            return self.push(rows);
        }
        let next = TableBuffer::as_large_as(&self.growing);
        let grown = std::mem::replace(&mut self.growing, next);
        self.push(grown);
    }

    /// The growing buffer becomes a batch; none comes after it.
    fn end(&mut self) -> Vec<RecordBatch> {
        let next = TableBuffer::new(self.growing.table());
        let grown = std::mem::replace(&mut self.growing, next);
        if grown.rows() > 0 {
            self.push(grown);
        }
        std::mem::take(&mut self.chunks)
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
