//! Writes one row cell by cell: for tables with few rows, and for tests.

use super::cells::Cells;
use super::column::Column;
use super::vectors::offset;

/// Writes one row, cell by cell in column order.
///
/// Every method writes the next cell and panics when the column has another kind or the row is complete.
pub struct RowWriter<'a> {
    columns: &'a mut [Column],
    /// Index of the next cell's column.
    at: usize,
    rows: usize,
}

macro_rules! cell {
    ($($name:ident($type:ty) => $variant:ident),* $(,)?) => { $(
        /// Writes a cell of this kind; the column must not be nullable.
        pub fn $name(&mut self, value: $type) -> &mut Self {
            match self.next() {
                Cells::$variant(cells) => cells.push(value),
                other => other.refuse(stringify!($name)),
            }
            self
        }
    )* };
}

impl<'a> RowWriter<'a> {
    /// Creates a writer of the next row; `rows` includes that row.
    pub(super) fn new(columns: &'a mut [Column], rows: usize) -> RowWriter<'a> {
        RowWriter { columns, at: 0, rows }
    }

    cell! {
        bool(bool) => Bool,
        u8(u8) => U8,
        i16(i16) => I16,
        u32(u32) => U32,
        u64(u64) => U64,
        i64(i64) => I64,
        f64(f64) => F64,
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes.
    pub fn bytes(&mut self, cell: &[u8]) -> &mut Self {
        self.bytes_with(|bytes| bytes.extend_from_slice(cell))
    }

    /// Writes the bytes that `write` appends; `write` must not change the bytes already there.
    pub fn bytes_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        match self.next() {
            Cells::Variable { ends, bytes, .. } => {
                write(bytes);
                ends.push(offset(bytes.len()));
            }
            Cells::Dictionary(cells) => cells.push_with(write),
            other => other.refuse("bytes"),
        }
        self
    }

    /// Writes an id of 8 or 16 raw bytes, the width of the column.
    pub fn id(&mut self, id: &[u8]) -> &mut Self {
        match (self.next(), id.first_chunk(), id.first_chunk()) {
            (Cells::Id8(ids), Some(first), _) if id.len() == 8 => ids.push(u64::from_ne_bytes(*first)),
            (Cells::Id16(ids), _, Some(first)) if id.len() == 16 => ids.push(u128::from_ne_bytes(*first)),
            (other, ..) => other.refuse("id"),
        }
        self
    }

    /// Writes a string or a null; the column must be nullable.
    pub fn optional_text(&mut self, value: Option<&str>) -> &mut Self {
        self.mark(value.is_some()).text(value.unwrap_or(""))
    }

    /// Writes bytes or a null; the column must be nullable.
    pub fn optional_bytes(&mut self, value: Option<&[u8]>) -> &mut Self {
        self.mark(value.is_some()).bytes(value.unwrap_or(&[]))
    }

    /// Writes an integer or a null; the column must be nullable.
    pub fn optional_i64(&mut self, value: Option<i64>) -> &mut Self {
        self.mark(value.is_some()).i64(value.unwrap_or(0))
    }

    /// Writes an unsigned 8-bit integer or a null; the column must be nullable.
    pub fn optional_u8(&mut self, value: Option<u8>) -> &mut Self {
        self.mark(value.is_some()).u8(value.unwrap_or(0))
    }

    /// Writes an unsigned integer or a null; the column must be nullable.
    pub fn optional_u32(&mut self, value: Option<u32>) -> &mut Self {
        self.mark(value.is_some()).u32(value.unwrap_or(0))
    }

    /// Writes a boolean or a null; the column must be nullable.
    pub fn optional_bool(&mut self, value: Option<bool>) -> &mut Self {
        self.mark(value.is_some()).bool(value.unwrap_or(false))
    }

    /// Writes a double or a null; the column must be nullable.
    pub fn optional_f64(&mut self, value: Option<f64>) -> &mut Self {
        self.mark(value.is_some()).f64(value.unwrap_or(0.0))
    }

    /// Sets whether the next cell is not null.
    fn mark(&mut self, present: bool) -> &mut Self {
        if let Some(column) = self.columns.get_mut(self.at)
            && let Some(valid) = &mut column.valid
        {
            valid.push(present);
        }
        self
    }

    fn next(&mut self) -> &mut Cells {
        let column = self.columns.get_mut(self.at).expect("a row has no more cells than its table has columns");
        self.at += 1;
        debug_assert!(column.valid.as_ref().is_none_or(|valid| valid.len() == self.rows), "use optional_… for it");
        &mut column.cells
    }
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        let missing = self.columns.len() - self.at;
        debug_assert!(missing == 0 || std::thread::panicking(), "{missing} cells are missing");
    }
}
