//! Growing column buffers of one table: typed vectors that become Arrow arrays without copying.
//!
//! Rows are written cell by cell in the order of [`Table::columns`] ([`TableBuffer::row`]), or column by column for a
//! block of rows ([`TableBuffer::block`]), which is several times quicker. Nothing is allocated per row beyond the
//! amortised growth of the vectors.

use arrow::array::RecordBatch;

use super::block::Block;
use super::cells::Cells;
use super::column::Column;
use super::pick::Pick;
use super::row::RowWriter;
use super::shared::SharedCells;
use crate::memory_schema;
use crate::tables::Table;

/// Rows of one table, in the order they came.
#[derive(Debug, Clone)]
pub struct TableBuffer {
    table: Table,
    columns: Vec<Column>,
    rows: usize,
}

impl TableBuffer {
    pub fn new(table: Table) -> TableBuffer {
        let column = |column: &crate::tables::Column| Column {
            cells: Cells::new(column),
            valid: column.nullable.then(Vec::new),
        };
        TableBuffer { table, columns: table.columns().iter().map(column).collect(), rows: 0 }
    }

    /// No rows, and room for as many as `other` has.
    pub fn as_large_as(other: &TableBuffer) -> TableBuffer {
        let mut buffer = TableBuffer::new(other.table);
        for (column, other) in buffer.columns.iter_mut().zip(&other.columns) {
            column.cells.reserve_as(&other.cells);
        }
        buffer
    }

    /// No rows, and the memory of a batch that [`TableBuffer::into_batch`] made of such rows; what somebody else still has
    /// of it (a question that is being answered) is left to them.
    pub fn from_memory_of(table: Table, batch: RecordBatch) -> TableBuffer {
        let mut buffer = TableBuffer::new(table);
        let (_, arrays, _) = batch.into_parts();
        buffer.columns.iter_mut().zip(arrays).for_each(|(column, array)| column.cells.take_memory(array));
        buffer
    }

    pub fn table(&self) -> Table {
        self.table
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes in the buffers, spare capacity not counted.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.cells.bytes() + column.valid.as_ref().map_or(0, Vec::len)).sum()
    }

    /// Bytes the buffers take, spare capacity included.
    pub fn capacity_bytes(&self) -> usize {
        let valid = |column: &Column| column.valid.as_ref().map_or(0, Vec::capacity);
        self.columns.iter().map(|column| column.cells.capacity_bytes() + valid(column)).sum()
    }

    /// No rows, the memory kept.
    pub fn clear(&mut self) {
        for column in &mut self.columns {
            column.cells.clear();
            column.valid.iter_mut().for_each(Vec::clear);
        }
        self.rows = 0;
    }

    /// Starts a row; every column must be written, in order.
    pub fn row(&mut self) -> RowWriter<'_> {
        self.rows += 1;
        RowWriter::new(&mut self.columns, self.rows)
    }

    /// Starts `rows` rows; every column must be written, in order.
    pub(super) fn block(&mut self, rows: usize) -> Block<'_> {
        self.rows += rows;
        Block::new(&mut self.columns, self.rows)
    }

    /// The bytes of a cell that is neither a number nor shared; empty for any other.
    pub(super) fn cell(&self, column: usize, row: usize) -> &[u8] {
        self.columns.get(column).map_or(&[], |column| column.cells.variable(row))
    }

    /// The rows' series, of a table that has them.
    pub fn series(&self) -> Option<&[u64]> {
        let (column, _) = self.table.column("series")?;
        self.columns[column].cells.u64()
    }

    /// The cells of a column of such numbers; `None` for any other column.
    pub fn i64(&self, column: &str) -> Option<&[i64]> {
        match self.cells(column)? {
            Cells::I64(cells) => Some(cells),
            _ => None,
        }
    }

    /// A cell of a column of such numbers; 0 for any other column.
    pub fn u8(&self, column: &str, row: usize) -> u8 {
        match self.cells(column) {
            Some(Cells::U8(cells)) => cells[row],
            _ => 0,
        }
    }

    /// A cell of a column of such ids; zeros for any other column.
    pub fn id8(&self, column: &str, row: usize) -> [u8; 8] {
        match self.cells(column) {
            Some(Cells::Id8(cells)) => cells[row].to_ne_bytes(),
            _ => [0; 8],
        }
    }

    /// A column of shared values.
    pub fn shared(&self, column: &str) -> Option<&SharedCells> {
        match self.cells(column)? {
            Cells::Shared(cells) => Some(cells),
            _ => None,
        }
    }

    /// Writes this text into the rows (ascending) of a shared column.
    pub fn set_texts(&mut self, column: &str, text: &str, rows: &[usize]) {
        let Some((column, _)) = self.table.column(column) else { return };
        if let Cells::Shared(cells) = &mut self.columns[column].cells
            && !rows.is_empty()
        {
            cells.set(rows, text.as_bytes());
        }
    }

    fn cells(&self, column: &str) -> Option<&Cells> {
        self.table.column(column).map(|(column, _)| &self.columns[column].cells)
    }

    /// Appends rows of `other`.
    pub fn append(&mut self, other: &TableBuffer, pick: Pick<'_>) {
        let added = match pick {
            Pick::All => other.rows,
            Pick::Kept(keep) => keep.iter().filter(|keep| **keep).count(),
            Pick::Order(order) => order.len(),
        };
        if added == 0 {
            return;
        }
        for (into, from) in self.columns.iter_mut().zip(&other.columns) {
            into.append(from, pick);
        }
        self.rows += added;
    }

    /// The rows as Arrow, without copying; shared columns are dictionaries.
    pub fn into_batch(self) -> RecordBatch {
        let arrays = self.columns.into_iter().map(Column::into_array).collect();
        RecordBatch::try_new(memory_schema(self.table), arrays)
            .expect("every column holds its kind and the same number of rows")
    }
}
