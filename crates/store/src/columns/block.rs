//! A block of rows, column by column: the kind of a column is asked once per block, and numbers are written in one loop.
//!
//! Blocks are small, so that what the rows are made of stays in the nearest cache while it is read once per column.

use super::cells::Cells;
use super::column::Column;
use super::shared::LatestNames;
use super::vectors::offset;

/// Rows per block.
pub(super) const BLOCK_ROWS: usize = 64;

/// Writes the columns of a block of rows, in order.
pub(super) struct Block<'a> {
    columns: std::slice::IterMut<'a, Column>,
    /// Of the buffer, this block included.
    rows: usize,
}

macro_rules! column {
    ($($name:ident($type:ty) => $variant:ident),* $(,)?) => { $(
        pub fn $name(&mut self, cells: impl Iterator<Item = $type>) -> &mut Self {
            match self.next() {
                Cells::$variant(into) => into.extend(cells),
                other => other.refuse(stringify!($name)),
            }
            self
        }
    )* };
}

impl<'a> Block<'a> {
    pub fn new(columns: &'a mut [Column], rows: usize) -> Block<'a> {
        Block { columns: columns.iter_mut(), rows }
    }

    column! {
        bool(bool) => Bool,
        u8(u8) => U8,
        i16(i16) => I16,
        u32(u32) => U32,
        u64(u64) => U64,
        i64(i64) => I64,
        f64(f64) => F64,
    }

    pub fn id8(&mut self, cells: impl Iterator<Item = [u8; 8]>) -> &mut Self {
        match self.next() {
            Cells::Id8(into) => into.extend(cells.map(u64::from_ne_bytes)),
            other => other.refuse("id8"),
        }
        self
    }

    pub fn id16(&mut self, cells: impl Iterator<Item = [u8; 16]>) -> &mut Self {
        match self.next() {
            Cells::Id16(into) => into.extend(cells.map(u128::from_ne_bytes)),
            other => other.refuse("id16"),
        }
        self
    }

    pub fn text<'t>(&mut self, cells: impl Iterator<Item = &'t str>) -> &mut Self {
        match self.next() {
            Cells::Shared(shared) => shared.extend_texts(cells),
            Cells::Variable { ends, bytes, .. } => ends.extend(cells.map(|text| {
                if !text.is_empty() {
                    bytes.extend_from_slice(text.as_bytes());
                }
                offset(bytes.len())
            })),
            other => other.refuse("text"),
        }
        self
    }

    /// As [`Block::text`], in a shared column; `latest` goes from block to block of one buffer.
    pub fn name<'t>(&mut self, cells: impl Iterator<Item = &'t str>, latest: &mut LatestNames<'t>) -> &mut Self {
        match self.next() {
            Cells::Shared(shared) => shared.extend_names(cells, latest),
            other => other.refuse("name"),
        }
        self
    }

    /// In a column that may be null.
    pub fn optional_i64(&mut self, cells: impl Iterator<Item = Option<i64>>) -> &mut Self {
        let column = self.columns.next().expect("a block has no more columns than its table");
        match (&mut column.cells, &mut column.valid) {
            (Cells::I64(into), Some(valid)) => into.extend(cells.map(|cell| {
                valid.push(cell.is_some());
                cell.unwrap_or_default()
            })),
            (other, _) => other.refuse("optional i64"),
        }
        debug_assert_eq!(column.cells.len(), self.rows);
        self
    }

    /// Bytes that `write` appends in place.
    pub fn bytes_with<T>(
        &mut self,
        cells: impl Iterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> &mut Self {
        match self.next() {
            Cells::Variable { ends, bytes, .. } => ends.extend(cells.map(|cell| {
                write(cell, bytes);
                offset(bytes.len())
            })),
            Cells::Shared(shared) => cells.for_each(|cell| shared.push_with(|bytes| write(cell, bytes))),
            other => other.refuse("bytes"),
        }
        self
    }

    /// As [`Block::bytes_with`], in a column that may be null.
    pub fn optional_bytes_with<T>(
        &mut self,
        cells: impl Iterator<Item = Option<T>>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> &mut Self {
        let column = self.columns.next().expect("a block has no more columns than its table");
        match (&mut column.cells, &mut column.valid) {
            (Cells::Variable { ends, bytes, .. }, Some(valid)) => ends.extend(cells.map(|cell| {
                valid.push(cell.is_some());
                if let Some(cell) = cell {
                    write(cell, bytes);
                }
                offset(bytes.len())
            })),
            (other, _) => other.refuse("optional bytes"),
        }
        debug_assert_eq!(column.cells.len(), self.rows);
        self
    }

    /// Which of `values` each row has. All blocks of a buffer name the same values.
    pub fn shared<'v>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'v [u8]>,
        cells: impl Iterator<Item = u32>,
    ) -> &mut Self {
        match self.next() {
            Cells::Shared(shared) => shared.extend(values, cells),
            other => other.refuse("shared"),
        }
        self
    }

    /// Shared values with their hashes, see [`SharedCells::extend_hashed`](super::shared::SharedCells::extend_hashed).
    pub fn shared_hashed<'v>(&mut self, cells: impl Iterator<Item = (&'v [u8], u64)>) -> &mut Self {
        match self.next() {
            Cells::Shared(shared) => shared.extend_hashed(cells),
            other => other.refuse("shared"),
        }
        self
    }

    fn next(&mut self) -> &'a mut Cells {
        let column = self.columns.next().expect("a block has no more columns than its table");
        debug_assert!(column.valid.is_none(), "use optional_… for it");
        &mut column.cells
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        let missing = self.columns.len();
        debug_assert!(missing == 0 || std::thread::panicking(), "{missing} columns are missing");
    }
}
