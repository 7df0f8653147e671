//! Encodes the order of rows as comparable bytes: the requested columns, then the table's identity, or its sort key.
//!
//! A null sorts before every value, so it is last when descending.

use arrow::array::RecordBatch;

use crate::batch::cells::{Cells, cells};
use crate::batch::datum::{Datum, encode_bytes, sortable_f64, sortable_i64, unsortable_i64};
use crate::batch::places::find;
use tidewatch_store::StoreError;
use tidewatch_store::plan::Order;
use tidewatch_store::tables::{Column, Kind, Table};

/// One column of the order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct By {
    pub column: &'static Column,
    pub descending: bool,
}

impl By {
    /// The value of this column at the start of an encoded key; `None` for a null and for kinds other than U64 and I64.
    pub fn first_number(&self, key: &[u8]) -> Option<Datum> {
        let (head, rest) = key.split_first()?;
        let mut bytes: [u8; 8] = rest.get(..8)?.try_into().ok()?;
        let mut present = *head;
        if self.descending {
            bytes = bytes.map(|byte| !byte);
            present = !present;
        }
        let bits = u64::from_be_bytes(bytes);
        match self.column.kind {
            _ if present == 0 => None,
            Kind::U64 => Some(Datum::U64(bits)),
            Kind::I64 => Some(Datum::I64(unsortable_i64(bits))),
            _ => None,
        }
    }
}

/// The requested order, followed by the table's identity as a tie-breaker.
///
/// A table without an identity uses its sort key instead. Rows that are equal in that too are ordered by arrival within
/// a part, and parts by age. A merge takes adjacent parts (`merge::policy`), so it changes no order and the pages of a
/// list stay stable.
pub(crate) fn total_order(table: Table, order: &[Order]) -> Result<Vec<By>, StoreError> {
    let mut all: Vec<By> = Vec::new();
    let requested = order.iter().map(|order| (order.column, order.descending));
    let then = if table.identity().is_empty() { table.sort_key() } else { table.identity() };
    for (name, descending) in requested.chain(then.iter().map(|name| (*name, false))) {
        let (_, column) = find(table, name)?;
        // A column's second occurrence has no effect.
        if !all.iter().any(|by| by.column == column) {
            all.push(By { column, descending });
        }
    }
    Ok(all)
}

/// Encodes rows of one batch.
pub(crate) struct Encoder<'a> {
    columns: Vec<(Cells<'a>, bool)>,
}

impl<'a> Encoder<'a> {
    pub fn new(batch: &'a RecordBatch, order: &[By]) -> Result<Encoder<'a>, StoreError> {
        let open = |by: &By| cells(batch, by.column.name).map(|cells| (cells, by.descending));
        Ok(Encoder { columns: order.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Replaces `key` with the encoding of the first column; [`Encoder::encode_rest`] completes it.
    pub fn encode_first(&self, row: usize, key: &mut Vec<u8>) {
        key.clear();
        self.encode(&self.columns[..self.columns.len().min(1)], row, key);
    }

    /// Appends the encoding of the other columns, so that keys compare like rows.
    pub fn encode_rest(&self, row: usize, key: &mut Vec<u8>) {
        self.encode(self.columns.get(1..).unwrap_or_default(), row, key);
    }

    fn encode(&self, columns: &[(Cells<'a>, bool)], row: usize, key: &mut Vec<u8>) {
        for (cells, descending) in columns {
            let start = key.len();
            encode_cell(cells, row, key);
            if *descending {
                key[start..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
    }
}

fn encode_cell(cells: &Cells<'_>, row: usize, key: &mut Vec<u8>) {
    if cells.is_null(row) {
        return key.push(0);
    }
    key.push(1);
    match cells {
        Cells::Bool(array) => key.push(u8::from(array.value(row))),
        Cells::U8(array) => key.push(array.value(row)),
        Cells::U32(array) => key.extend(array.value(row).to_be_bytes()),
        Cells::U64(array) => key.extend(array.value(row).to_be_bytes()),
        Cells::I16(array) => key.extend(sortable_i64(i64::from(array.value(row))).to_be_bytes()),
        Cells::I64(array) => key.extend(sortable_i64(array.value(row)).to_be_bytes()),
        Cells::F64(array) => key.extend(sortable_f64(array.value(row)).to_be_bytes()),
        Cells::Id(array) => key.extend(array.value(row)),
        Cells::Text(_) | Cells::Dictionary(..) | Cells::Bytes(_) | Cells::Shared(..) => {
            encode_bytes(cells.bytes(row), key)
        }
    }
}
