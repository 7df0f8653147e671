//! Converts the rules' projection to typed columns: the rows of one request, ready for the memtable.
//!
//! [`Rows`] also has the record of the request that each row came from, the dedup key of every record and its fate: the
//! store drops the rows of duplicates and counts every record.
//!
//! Invariants: each row refers to its record; no row allocates (`crates/server/tests/ingest_cost.rs`).

mod attributes;
mod block;
mod buffer;
mod buffer_pool;
mod cells;
mod column;
mod dictionary_cells;
mod keys;
mod logs;
mod metrics;
mod pick;
mod profiles;
mod report;
mod row;
mod senders;
mod sessions;
mod traces;
mod vectors;

#[cfg(test)]
mod tests;

use tidewatch_domain::model::{RequestKind, Slice};
use tidewatch_domain::project::{DropReason, Dropped};
use tidewatch_domain::rules::ai_trace::usage::AiUsage;

pub use buffer::TableBuffer;
use buffer_pool::PooledRows;
pub use dictionary_cells::DictionaryCells;
pub use keys::{ExceptionKeys, NO_KEY, keys_without_side, span_key};
pub use pick::Pick;
pub use row::RowWriter;
pub use senders::{Sender, Senders};
pub use sessions::document;

use crate::tables::Table;

/// The rows of one accepted request.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Number of the project in the control database.
    pub project: u32,
    /// Kind of the request.
    pub kind: RequestKind,
    /// The rows by table; tables without rows are absent.
    pub tables: Vec<TableRows>,
    /// Decision of the rules about every record of the request, by record.
    pub fates: Vec<Fate>,
    /// The dedup key of every record, by record; [`NO_KEY`] when it has none.
    /// Empty for signals whose duplicates are detected by the whole request only.
    pub keys: Vec<u128>,
    /// Ranges of records that are duplicates together, with the dedup key of each range; `keys` is empty then.
    pub groups: Vec<(u128, Slice)>,
    /// Bytes of the body, inflated; 0 when they are not counted.
    pub body_bytes: u64,
    /// Number of records that were refused for their ids before they were decoded.
    pub refused: usize,
    /// Records stored without all attributes of their resource or scope, because those were too large; almost always
    /// empty.
    pub trimmed: Vec<u32>,
    /// The processes that sent the stored records; empty when they are not counted by sender.
    pub senders: Senders,
    /// Whether any record of the request has no time of its own: an equal body may be another event. DECISIONS 11.
    pub is_untimed: bool,
    /// Maximum of distinct names per service and day; 0: no limit, `None`: the limit in the engine's options.
    pub names_max: Option<usize>,
    /// By row of [`Table::AiTraces`], what decides whether it repeats the usage of others; empty when unknown.
    pub ai_usage: Vec<AiUsage>,
}

/// Decision of the rules about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is stored, unless it is a duplicate.
    Kept,
    /// It is not stored, for this reason.
    Dropped(DropReason),
}

/// Rows of one table, with the record of each. Dropping them returns their memory to a pool for later requests.
#[derive(Debug, Clone)]
pub struct TableRows {
    /// The rows.
    pub buffer: TableBuffer,
    /// By row, the index of its record in the request.
    pub records: Vec<u32>,
    /// By row, the keys of exceptions of a project with Issues from logs; else empty. DECISIONS 9.
    pub exception_keys: Vec<ExceptionKeys>,
}

impl TableRows {
    fn new(table: Table) -> TableRows {
        match buffer_pool::take(table) {
            Some(PooledRows { buffer, records, exception_keys }) => TableRows { buffer, records, exception_keys },
            None => TableRows::with(TableBuffer::new(table), Vec::new()),
        }
    }

    fn with(buffer: TableBuffer, records: Vec<u32>) -> TableRows {
        TableRows { buffer, records, exception_keys: Vec::new() }
    }

    /// Takes the rows and leaves an empty buffer; `records` and `exception_keys` stay.
    pub fn take_buffer(&mut self) -> TableBuffer {
        let table = self.buffer.table();
        std::mem::replace(&mut self.buffer, TableBuffer::new(table))
    }

    /// Removes the rows of exceptions that are stored already. `is_duplicate` is called once per row, in order, with
    /// the row's record and keys.
    pub fn drop_duplicate_exceptions(&mut self, mut is_duplicate: impl FnMut(u32, ExceptionKeys) -> bool) {
        let rows = self.records.iter().zip(&self.exception_keys);
        let keep: Vec<bool> = rows.map(|(record, keys)| !is_duplicate(*record, *keys)).collect();
        self.keep(&keep);
    }

    /// Keeps the rows that pass; the rows of [`TableRows::exception_keys`] are not changed.
    pub fn keep(&mut self, keep: &[bool]) {
        if keep.contains(&false) {
            let all = self.take_buffer();
            self.buffer.append(&all, Pick::Kept(keep));
            let mut kept = keep.iter();
            self.records.retain(|_| kept.next().is_some_and(|keep| *keep));
        }
    }

    /// Starts one row for each of `records`.
    fn block(&mut self, records: impl ExactSizeIterator<Item = u32>) -> block::Block<'_> {
        let rows = records.len();
        self.records.extend(records);
        self.buffer.block(rows)
    }

    /// Starts a row for `record`.
    fn row(&mut self, record: u32) -> RowWriter<'_> {
        self.records.push(record);
        self.buffer.row()
    }
}

impl Drop for TableRows {
    fn drop(&mut self) {
        buffer_pool::put_back(&mut self.buffer, &mut self.records, &mut self.exception_keys);
    }
}

impl Rows {
    fn new(
        project: u32,
        kind: impl Into<RequestKind>,
        tables: Vec<TableRows>,
        records: usize,
        dropped: &[Dropped],
    ) -> Rows {
        let mut fates = vec![Fate::Kept; records];
        for drop in dropped {
            fates[drop.record as usize] = Fate::Dropped(drop.reason);
        }
        let tables = tables.into_iter().filter(|table| table.buffer.rows() > 0).collect();
        Rows {
            project,
            kind: kind.into(),
            tables,
            fates,
            keys: Vec::new(),
            groups: Vec::new(),
            body_bytes: 0,
            refused: 0,
            trimmed: Vec::new(),
            senders: Senders::default(),
            is_untimed: false,
            names_max: None,
            ai_usage: Vec::new(),
        }
    }

    /// Wraps rows that come from no export, for tests and benchmarks. Each row is a record of its own without a dedup
    /// key.
    pub fn from_buffer(project: u32, kind: impl Into<RequestKind>, buffer: TableBuffer) -> Rows {
        let records = (0..buffer.rows() as u32).collect();
        let fates = vec![Fate::Kept; buffer.rows()];
        Rows {
            project,
            kind: kind.into(),
            tables: vec![TableRows::with(buffer, records)],
            fates,
            keys: Vec::new(),
            groups: Vec::new(),
            body_bytes: 0,
            refused: 0,
            trimmed: Vec::new(),
            senders: Senders::default(),
            is_untimed: false,
            names_max: None,
            ai_usage: Vec::new(),
        }
    }

    /// Removes the dedup keys of the records, for data that is never sent twice.
    pub fn without_keys(mut self) -> Rows {
        self.keys.clear();
        self.groups.clear();
        self
    }

    /// Sets the size of the request's body, inflated.
    pub fn with_body_bytes(mut self, bytes: u64) -> Rows {
        self.body_bytes = bytes;
        self
    }

    /// Sets the maximum of distinct names per service and day; 0: no limit, `None`: the limit in the engine's options.
    /// A replay passes the limit that applied when the request was accepted.
    pub fn with_names_max(mut self, names_max: Option<usize>) -> Rows {
        self.names_max = names_max;
        self
    }

    /// Bytes of the body, inflated; 0 when they are not counted.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// The number of records of the request, stored or not.
    pub fn records(&self) -> usize {
        self.fates.len() + self.refused
    }

    /// The number of records that are stored without all attributes of their resource or scope.
    pub fn trimmed(&self) -> usize {
        self.trimmed.len()
    }

    /// The number of rows of all tables.
    pub fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.buffer.rows()).sum()
    }
}
