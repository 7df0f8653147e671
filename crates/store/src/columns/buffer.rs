//! Growing column buffers of one table: typed vectors that become Arrow arrays without copying.
//!
//! Rows are written cell by cell in the order of [`Table::columns`] ([`TableBuffer::row`]), or column by column for a
//! block of rows ([`TableBuffer::block`]), which is several times faster. Nothing is allocated per row beyond the
//! amortised growth of the vectors.

use arrow::array::RecordBatch;

use super::block::Block;
use super::cells::Cells;
use super::column::Column;
use super::dictionary_cells::DictionaryCells;
use super::pick::Pick;
use super::row::RowWriter;
use crate::memory_schema;
use crate::tables::Table;

/// Rows of one table, in the order in which they were written.
#[derive(Debug, Clone)]
pub struct TableBuffer {
    table: Table,
    columns: Vec<Column>,
    rows: usize,
}

impl TableBuffer {
    /// Creates an empty buffer without reserved memory.
    pub fn new(table: Table) -> TableBuffer {
        let column = |column: &crate::tables::Column| Column {
            cells: Cells::new(column),
            valid: column.nullable.then(Vec::new),
        };
        TableBuffer { table, columns: table.columns().iter().map(column).collect(), rows: 0 }
    }

    /// Creates an empty buffer with capacity for an eighth more rows than `other` has.
    pub fn as_large_as(other: &TableBuffer) -> TableBuffer {
        let mut buffer = TableBuffer::new(other.table);
        for (column, other) in buffer.columns.iter_mut().zip(&other.columns) {
            column.cells.reserve_as(&other.cells);
        }
        buffer
    }

    /// Creates an empty buffer that reuses the memory of a batch from [`TableBuffer::into_batch`]. Arrays that are
    /// still referenced elsewhere, by a running query for instance, are not reused.
    pub fn from_memory_of(table: Table, batch: RecordBatch) -> TableBuffer {
        let mut buffer = TableBuffer::new(table);
        let (_, arrays, _) = batch.into_parts();
        buffer.columns.iter_mut().zip(arrays).for_each(|(column, array)| column.cells.take_memory(array));
        buffer
    }

    /// The table of the rows.
    pub fn table(&self) -> Table {
        self.table
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the cells, spare capacity excluded.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.cells.bytes() + column.valid.as_ref().map_or(0, Vec::len)).sum()
    }

    /// Bytes allocated for the cells, spare capacity included.
    pub fn capacity_bytes(&self) -> usize {
        let valid = |column: &Column| column.valid.as_ref().map_or(0, Vec::capacity);
        self.columns.iter().map(|column| column.cells.capacity_bytes() + valid(column)).sum()
    }

    /// Removes all rows and keeps the allocated memory.
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

    /// The bytes of a cell of a variable-length column; empty for numbers, ids and dictionary columns.
    pub(super) fn cell(&self, column: usize, row: usize) -> &[u8] {
        self.columns.get(column).map_or(&[], |column| column.cells.variable(row))
    }

    /// The column `series`, by row; `None` when the table has no such column.
    pub fn series(&self) -> Option<&[u64]> {
        let (column, _) = self.table.column("series")?;
        self.columns[column].cells.u64()
    }

    /// The cells of a column of [`Kind::I64`](crate::tables::Kind::I64), by row; `None` for any other column.
    pub fn i64(&self, column: &str) -> Option<&[i64]> {
        match self.cells(column)? {
            Cells::I64(cells) => Some(cells),
            _ => None,
        }
    }

    /// The cells of a column of [`Kind::U64`](crate::tables::Kind::U64), by row; `None` for any other column.
    pub fn u64(&self, column: &str) -> Option<&[u64]> {
        self.cells(column)?.u64()
    }

    /// The cells of a column of [`Kind::U8`](crate::tables::Kind::U8), by row, 0 for null; `None` for any other column.
    pub fn u8s(&self, column: &str) -> Option<&[u8]> {
        match self.cells(column)? {
            Cells::U8(cells) => Some(cells),
            _ => None,
        }
    }

    /// The cells of a column of [`Kind::Id8`](crate::tables::Kind::Id8) as native-endian integers, by row; `None` for
    /// any other column.
    pub fn id8s(&self, column: &str) -> Option<&[u64]> {
        match self.cells(column)? {
            Cells::Id8(cells) => Some(cells),
            _ => None,
        }
    }

    /// The cells of a column of [`Kind::Id16`](crate::tables::Kind::Id16) as native-endian integers, by row; `None` for
    /// any other column.
    pub fn id16s(&self, column: &str) -> Option<&[u128]> {
        match self.cells(column)? {
            Cells::Id16(cells) => Some(cells),
            _ => None,
        }
    }

    /// A cell of a column of [`Kind::U8`](crate::tables::Kind::U8); 0 for any other column.
    pub fn u8(&self, column: &str, row: usize) -> u8 {
        match self.cells(column) {
            Some(Cells::U8(cells)) => cells[row],
            _ => 0,
        }
    }

    /// A cell of a column of [`Kind::Id8`](crate::tables::Kind::Id8); zeros for any other column.
    pub fn id8(&self, column: &str, row: usize) -> [u8; 8] {
        match self.cells(column) {
            Some(Cells::Id8(cells)) => cells[row].to_ne_bytes(),
            _ => [0; 8],
        }
    }

    /// The cells of a dictionary column; `None` for any other column.
    pub fn dictionary(&self, column: &str) -> Option<&DictionaryCells> {
        match self.cells(column)? {
            Cells::Dictionary(cells) => Some(cells),
            _ => None,
        }
    }

    /// Sets the cells of `rows` (ascending) in a dictionary column to `text`; does nothing for any other column.
    pub fn set_string(&mut self, column: &str, text: &str, rows: &[usize]) {
        let Some((column, _)) = self.table.column(column) else { return };
        if let Cells::Dictionary(cells) = &mut self.columns[column].cells
            && !rows.is_empty()
        {
            cells.set(rows, text.as_bytes());
        }
    }

    /// Sets cells in a nullable dictionary column to strings, by row; does nothing for any other column.
    pub fn set_strings(&mut self, column: &str, values: &[(usize, &[u8])]) {
        let Some((column, _)) = self.table.column(column) else { return };
        if let Column { cells: Cells::Dictionary(cells), valid: Some(valid) } = &mut self.columns[column]
            && !values.is_empty()
        {
            cells.set_each(values);
            values.iter().for_each(|(row, _)| valid[*row] = true);
        }
    }

    /// Sets a cell of a nullable column of [`Kind::U8`](crate::tables::Kind::U8); does nothing for any other column.
    pub fn set_optional_u8(&mut self, column: &str, row: usize, value: u8) {
        let Some((column, _)) = self.table.column(column) else { return };
        if let Column { cells: Cells::U8(cells), valid: Some(valid) } = &mut self.columns[column] {
            (cells[row], valid[row]) = (value, true);
        }
    }

    /// Sets a cell of a nullable column of [`Kind::Bool`](crate::tables::Kind::Bool), `None` for null; does nothing for any
    /// other column.
    pub fn set_optional_bool(&mut self, column: &str, row: usize, value: Option<bool>) {
        let Some((column, _)) = self.table.column(column) else { return };
        if let Column { cells: Cells::Bool(cells), valid: Some(valid) } = &mut self.columns[column] {
            (cells[row], valid[row]) = (value.unwrap_or(false), value.is_some());
        }
    }

    fn cells(&self, column: &str) -> Option<&Cells> {
        self.table.column(column).map(|(column, _)| &self.columns[column].cells)
    }

    /// Appends the picked rows of `other`, a buffer of the same table.
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

    /// Converts the rows to an Arrow batch of [`memory_schema`] without copying.
    pub fn into_batch(self) -> RecordBatch {
        let arrays = self.columns.into_iter().map(Column::into_array).collect();
        RecordBatch::try_new(memory_schema(self.table), arrays)
            .expect("every column holds its kind and the same number of rows")
    }
}
