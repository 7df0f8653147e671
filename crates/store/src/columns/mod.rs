//! From the rules' projection to typed columns: the rows of one request, ready for the memtable.
//!
//! [`Rows`] also says which record of the request each row came from, what identifies that record when it is sent
//! again, and what became of every record: the store drops rows of records it has seen, and counts all of them.

mod buffer;
mod keys;
mod logs;
mod metrics;
mod traces;

#[cfg(test)]
mod tests;

use tidewatch_domain::model::{KeyValue, Signal};
use tidewatch_domain::project::{DropReason, Dropped};
use tidewatch_domain::wire;

pub use buffer::{RowWriter, TableBuffer};
pub(crate) use keys::Twin;
pub use keys::{NO_KEY, span_key};

use crate::tables::Table;

/// The rows of one accepted request.
#[derive(Debug, Clone)]
pub struct Rows {
    pub(crate) project: u32,
    pub(crate) signal: Signal,
    pub(crate) tables: Vec<TableRows>,
    /// What became of every record of the request, by record.
    pub(crate) fates: Vec<Fate>,
    /// What identifies every record when it is sent again, by record; [`NO_KEY`] when nothing does.
    /// Empty for signals that are recognised by the whole request alone.
    pub(crate) keys: Vec<u128>,
    /// Records stored without all attributes of their resource or scope, see [`Shared`]; almost always empty.
    pub(crate) trimmed: Vec<u32>,
}

/// What the rules decided about a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Dropped(DropReason),
}

/// Rows of one table, and the record each came from.
#[derive(Debug, Clone)]
pub(crate) struct TableRows {
    pub buffer: TableBuffer,
    pub records: Vec<u32>,
    /// By row, for the exceptions of a project that makes Issues from logs too; else empty. DECISIONS 9.
    pub twins: Vec<Twin>,
}

impl TableRows {
    fn new(table: Table) -> TableRows {
        TableRows { buffer: TableBuffer::new(table), records: Vec::new(), twins: Vec::new() }
    }

    /// Leaves out the rows whose twin is stored already; `is_told` is asked once per row, in order.
    pub fn drop_twins(&mut self, mut is_told: impl FnMut(u32, Twin) -> bool) {
        let told = self.records.iter().zip(&self.twins);
        let keep: Vec<bool> = told.map(|(record, twin)| !is_told(*record, *twin)).collect();
        if keep.contains(&false) {
            let all = std::mem::replace(&mut self.buffer, TableBuffer::new(Table::Exceptions));
            self.buffer.append(&all, Some(&keep));
            let mut kept = keep.iter();
            self.records.retain(|_| kept.next().is_some_and(|keep| *keep));
        }
    }

    /// Starts a row that stems from `record`.
    fn row(&mut self, record: u32) -> RowWriter<'_> {
        self.records.push(record);
        self.buffer.row()
    }
}

impl Rows {
    fn new(project: u32, signal: Signal, tables: Vec<TableRows>, records: usize, dropped: &[Dropped]) -> Rows {
        let mut fates = vec![Fate::Kept; records];
        for drop in dropped {
            fates[drop.record as usize] = Fate::Dropped(drop.reason);
        }
        let tables = tables.into_iter().filter(|table| table.buffer.rows() > 0).collect();
        Rows { project, signal, tables, fates, keys: Vec::new(), trimmed: Vec::new() }
    }

    /// Rows of one table that no export made: tests and measurements. Each is a record of its own, recognised by nothing.
    pub fn by_hand(project: u32, signal: Signal, buffer: TableBuffer) -> Rows {
        let records = (0..buffer.rows() as u32).collect();
        let fates = vec![Fate::Kept; buffer.rows()];
        Rows {
            project,
            signal,
            tables: vec![TableRows { buffer, records, twins: Vec::new() }],
            fates,
            keys: Vec::new(),
            trimmed: Vec::new(),
        }
    }

    /// The same rows, recognised by nothing when they come again: for data that nobody sends twice.
    pub fn without_keys(mut self) -> Rows {
        self.keys.clear();
        self
    }

    /// Records of the request, stored or not.
    pub fn records(&self) -> usize {
        self.fates.len()
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

/// Appends the attributes sorted by key, those of one key in their order: what means the same is the same bytes, and
/// `lake::attr_columns` can take them apart and put them together again. Few attributes need no allocation.
fn encode_sorted(attributes: &[KeyValue<'_>], out: &mut Vec<u8>) {
    const FEW: usize = 64;
    if attributes.is_sorted_by_key(|attribute| attribute.key) {
        return wire::encode_attributes(attributes, out);
    }
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let order: &mut [usize] = match few.get_mut(..attributes.len()) {
        Some(few) => few,
        None => {
            many.resize(attributes.len(), 0);
            &mut many
        }
    };
    order.iter_mut().enumerate().for_each(|(index, place)| *place = index);
    order.sort_unstable_by_key(|index| (attributes[*index].key, *index));
    order.iter().for_each(|index| wire::encode_attributes(std::slice::from_ref(&attributes[*index]), out));
}

/// Bytes that the copies of one shared list may take in a request.
const SHARED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What a shared list may always take, however many records share it …
const SHARED_BYTES_FREE: usize = 1024;
/// … and what it may take at most: a scan decodes thousands of rows at a time, each with its copy.
const SHARED_BYTES_EACH_MAX: usize = 32 * 1024;

/// Attributes that many records of a request share (those of a resource or scope), encoded once.
#[derive(Debug, Default)]
struct Shared {
    bytes: Vec<u8>,
    /// Some attributes did not fit.
    is_trimmed: bool,
}

impl Shared {
    /// The attributes, to be written with each of `repeats` records.
    ///
    /// A hostile request can name one huge resource and a hundred thousand records; attributes that would make the
    /// copies exceed [`SHARED_BYTES_MAX`], or one copy [`SHARED_BYTES_EACH_MAX`], are left out, one by one. Records
    /// that lose any are counted and the sender is told ([`Rows::trimmed`]).
    fn new(attributes: &[KeyValue<'_>], repeats: usize) -> Shared {
        if repeats == 0 {
            return Shared::default();
        }
        let bytes_max = (SHARED_BYTES_MAX / repeats).clamp(SHARED_BYTES_FREE, SHARED_BYTES_EACH_MAX);
        let mut bytes = Vec::new();
        encode_sorted(attributes, &mut bytes);
        if bytes.len() <= bytes_max {
            return Shared { bytes, is_trimmed: false };
        }
        bytes.clear();
        let mut sorted = attributes.to_vec();
        sorted.sort_by_key(|attribute| attribute.key);
        for attribute in &sorted {
            let before = bytes.len();
            wire::encode_attributes(std::slice::from_ref(attribute), &mut bytes);
            if bytes.len() > bytes_max {
                bytes.truncate(before);
            }
        }
        Shared { bytes, is_trimmed: true }
    }
}

/// The records of `shared`, pairs of a record and whether it is trimmed, that lost attributes.
fn trimmed(shared: impl Iterator<Item = (u32, bool)>) -> Vec<u32> {
    shared.filter(|(_, is_trimmed)| *is_trimmed).map(|(record, _)| record).collect()
}
