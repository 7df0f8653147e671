//! Rows that no part holds yet: written by one thread, seen by the next question.
//!
//! Per table a list of sealed Arrow batches and one growing buffer. A question gets the batches as they are; of the
//! growing buffer it makes one more when there is much in it, else it gets a copy, which is kept until the buffer grows
//! again. What is written meanwhile waits, so neither may take long.

use std::time::Instant;

use arrow::array::RecordBatch;
use tidewatch_journal::Position;

use super::counts::Counts;
use crate::columns::{Rows, TableBuffer, TableRows};
use crate::tables::Table;

/// A growing buffer becomes a batch at this many rows or bytes.
const CHUNK_ROWS: usize = 8192;
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// More rows than this are not copied for a question.
const COPIED_ROWS_MAX: usize = 512;

pub struct Memtable {
    tables: Vec<TableMemory>,
    counts: Counts,
    counts_snapshot: Option<RecordBatch>,
    /// Everything up to here in the journal is in this memtable, an older one, or parts.
    pub position: Position,
    /// When the first request after the last rotation came; `None` while there is nothing to flush.
    pub since: Option<Instant>,
    rows: usize,
    bytes: usize,
}

struct TableMemory {
    chunks: Vec<RecordBatch>,
    growing: TableBuffer,
    snapshot: Option<RecordBatch>,
}

/// A memtable that no longer changes, waiting to be flushed.
pub struct Sealed {
    /// By table number.
    pub tables: Vec<Vec<RecordBatch>>,
    pub position: Position,
    pub bytes: usize,
}

impl Memtable {
    pub fn new(position: Position) -> Memtable {
        let table = |table| TableMemory { chunks: Vec::new(), growing: TableBuffer::new(table), snapshot: None };
        Memtable {
            tables: Table::ALL.into_iter().map(table).collect(),
            counts: Counts::default(),
            counts_snapshot: None,
            position,
            since: None,
            rows: 0,
            bytes: 0,
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends the rows of records that are no duplicates (`duplicates` by record; `None`: none is).
    pub fn append(&mut self, rows: Rows, duplicates: Option<&[bool]>) {
        for mut table in rows.tables {
            let keep: Option<Vec<bool>> =
                duplicates.map(|duplicates| table.records.iter().map(|record| !duplicates[*record as usize]).collect());
            let memory = &mut self.tables[table.buffer.table() as usize];
            let (rows, bytes) = memory.append(&mut table, keep.as_deref());
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
            memory.cut();
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
        let tables = Table::ALL.into_iter().map(|table| self.snapshot_owned(table)).collect();
        Sealed { tables, position: self.position, bytes: self.bytes }
    }

    fn snapshot_owned(&mut self, table: Table) -> Vec<RecordBatch> {
        if table == Table::IngestCounts {
            return self.snapshot(table);
        }
        let memory = &mut self.tables[table as usize];
        memory.cut();
        std::mem::take(&mut memory.chunks)
    }
}

impl TableMemory {
    /// Rows and bytes added.
    fn append(&mut self, table: &mut TableRows, keep: Option<&[bool]>) -> (usize, usize) {
        self.snapshot = None;
        // A large request stays as it is: no copy.
        if keep.is_none() && is_chunk(&table.buffer) {
            let added = (table.buffer.rows(), table.buffer.bytes());
            self.chunks.push(table.take_buffer().into_batch());
            return added;
        }
        let before = (self.growing.rows(), self.growing.bytes());
        self.growing.append(&table.buffer, keep);
        let added = (self.growing.rows() - before.0, self.growing.bytes() - before.1);
        if is_chunk(&self.growing) {
            self.cut();
        }
        added
    }

    /// The growing buffer becomes a batch.
    fn cut(&mut self) {
        let snapshot = self.snapshot.take();
        if self.growing.rows() > 0 {
            let next = TableBuffer::as_large_as(&self.growing);
            let grown = std::mem::replace(&mut self.growing, next);
            self.chunks.push(snapshot.unwrap_or_else(|| grown.into_batch()));
        }
    }
}

fn is_chunk(buffer: &TableBuffer) -> bool {
    buffer.rows() >= CHUNK_ROWS || buffer.bytes() >= CHUNK_BYTES
}
