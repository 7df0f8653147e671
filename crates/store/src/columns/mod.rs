//! From the rules' projection to typed columns: the rows of one request, ready for the memtable.
//!
//! [`Rows`] also says which record of the request each row came from, what identifies that record when it is sent
//! again, and what became of every record: the store drops rows of records it has seen, and counts all of them.

mod attributes;
mod block;
mod buffer;
mod cells;
mod column;
mod keys;
mod logs;
mod metrics;
mod pick;
mod row;
mod senders;
mod shared;
mod spare;
mod traces;
mod vectors;

#[cfg(test)]
mod tests;

use tidewatch_domain::model::Signal;
use tidewatch_domain::project::{DropReason, Dropped};

pub use buffer::TableBuffer;
pub use keys::{NO_KEY, Twin, keys_without_side, span_key};
pub use pick::Pick;
pub use row::RowWriter;
pub use senders::{Sender, Senders};
pub use shared::SharedCells;

use crate::tables::Table;

/// The rows of one accepted request.
#[derive(Debug, Clone)]
pub struct Rows {
    pub project: u32,
    pub signal: Signal,
    pub tables: Vec<TableRows>,
    /// What became of every record of the request, by record.
    pub fates: Vec<Fate>,
    /// What identifies every record when it is sent again, by record; [`NO_KEY`] when nothing does.
    /// Empty for signals that are recognised by the whole request alone.
    pub keys: Vec<u128>,
    /// Bytes of the body, inflated; 0 when they are not to be counted.
    pub body_bytes: u64,
    /// Records that were refused before they were built, for their ids.
    pub refused: usize,
    /// Records stored without all attributes of their resource or scope, see [`Shared`]; almost always empty.
    pub trimmed: Vec<u32>,
    /// Who sent the records that are stored; empty when they are not to be counted by sender.
    pub senders: Senders,
    /// Any record of the request has no time of its own: an equal body may be another event. DECISIONS 11.
    pub is_untimed: bool,
    /// Names that a service may have on one day, 0 for any number. `None`: as many as the lake's options say.
    pub names_max: Option<usize>,
}

/// What the rules decided about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Dropped(DropReason),
}

/// Rows of one table, and the record each came from. Dropped ones leave their memory to the next ([`spare`]).
#[derive(Debug, Clone)]
pub struct TableRows {
    pub buffer: TableBuffer,
    pub records: Vec<u32>,
    /// By row, for the exceptions of a project that makes Issues from logs too; else empty. DECISIONS 9.
    pub twins: Vec<Twin>,
}

impl TableRows {
    fn new(table: Table) -> TableRows {
        spare::take(table).unwrap_or_else(|| TableRows::with(TableBuffer::new(table), Vec::new()))
    }

    fn with(buffer: TableBuffer, records: Vec<u32>) -> TableRows {
        TableRows { buffer, records, twins: Vec::new() }
    }

    /// The rows, the records aside.
    pub fn take_buffer(&mut self) -> TableBuffer {
        let table = self.buffer.table();
        std::mem::replace(&mut self.buffer, TableBuffer::new(table))
    }

    /// Leaves out the rows whose twin is stored already; `is_told` is asked once per row, in order.
    pub fn drop_twins(&mut self, mut is_told: impl FnMut(u32, Twin) -> bool) {
        let told = self.records.iter().zip(&self.twins);
        let keep: Vec<bool> = told.map(|(record, twin)| !is_told(*record, *twin)).collect();
        if keep.contains(&false) {
            let all = self.take_buffer();
            self.buffer.append(&all, Pick::Kept(&keep));
            let mut kept = keep.iter();
            self.records.retain(|_| kept.next().is_some_and(|keep| *keep));
        }
    }

    /// Starts rows that stem from these records.
    fn block(&mut self, records: impl ExactSizeIterator<Item = u32>) -> block::Block<'_> {
        let rows = records.len();
        self.records.extend(records);
        self.buffer.block(rows)
    }

    /// Starts a row that stems from `record`.
    fn row(&mut self, record: u32) -> RowWriter<'_> {
        self.records.push(record);
        self.buffer.row()
    }
}

impl Drop for TableRows {
    fn drop(&mut self) {
        spare::give(self);
    }
}

impl Rows {
    fn new(project: u32, signal: Signal, tables: Vec<TableRows>, records: usize, dropped: &[Dropped]) -> Rows {
        let mut fates = vec![Fate::Kept; records];
        for drop in dropped {
            fates[drop.record as usize] = Fate::Dropped(drop.reason);
        }
        let tables = tables.into_iter().filter(|table| table.buffer.rows() > 0).collect();
        Rows {
            project,
            signal,
            tables,
            fates,
            keys: Vec::new(),
            body_bytes: 0,
            refused: 0,
            trimmed: Vec::new(),
            senders: Senders::default(),
            is_untimed: false,
            names_max: None,
        }
    }

    /// Rows of one table that no export made: tests and measurements. Each is a record of its own, recognised by nothing.
    pub fn by_hand(project: u32, signal: Signal, buffer: TableBuffer) -> Rows {
        let records = (0..buffer.rows() as u32).collect();
        let fates = vec![Fate::Kept; buffer.rows()];
        Rows {
            project,
            signal,
            tables: vec![TableRows::with(buffer, records)],
            fates,
            keys: Vec::new(),
            body_bytes: 0,
            refused: 0,
            trimmed: Vec::new(),
            senders: Senders::default(),
            is_untimed: false,
            names_max: None,
        }
    }

    /// The same rows, recognised by nothing when they come again: for data that nobody sends twice.
    pub fn without_keys(mut self) -> Rows {
        self.keys.clear();
        self
    }

    /// The same rows, with the size of the body that they were made of, inflated.
    pub fn of_body(mut self, bytes: u64) -> Rows {
        self.body_bytes = bytes;
        self
    }

    /// Sets the limit of distinct names per service and day; 0: no limit, `None`: the store's own. A replay passes the
    /// limit that applied when the record was accepted.
    pub fn with_names_max(mut self, names_max: Option<usize>) -> Rows {
        self.names_max = names_max;
        self
    }

    /// Bytes of the body, inflated.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Records of the request, stored or not.
    pub fn records(&self) -> usize {
        self.fates.len() + self.refused
    }

    /// How many records are stored without all attributes of their resource or scope.
    pub fn trimmed(&self) -> usize {
        self.trimmed.len()
    }

    /// Rows of all tables.
    pub fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.buffer.rows()).sum()
    }
}
