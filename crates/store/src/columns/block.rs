//! Writes a block of rows column by column: the kind of a column is matched once per block, and numbers are written in
//! one loop.
//!
//! Blocks are small, so that the source records stay in the nearest cache while they are read once per column.

use super::cells::Cells;
use super::column::Column;
use super::dictionary_cells::NameCache;
use super::vectors::offset;

/// Rows per block.
pub(super) const BLOCK_ROWS: usize = 64;

/// Writes the columns of a block of rows, in order.
pub(super) struct Block<'a> {
    columns: std::slice::IterMut<'a, Column>,
    /// Rows of the buffer, this block included.
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

macro_rules! optional_column {
    ($($name:ident($type:ty) => $variant:ident),* $(,)?) => { $(
        /// Writes the next column, which must be nullable.
        pub fn $name(&mut self, cells: impl Iterator<Item = Option<$type>>) -> &mut Self {
            let column = self.columns.next().expect("a block has no more columns than its table");
            match (&mut column.cells, &mut column.valid) {
                (Cells::$variant(into), Some(valid)) => into.extend(cells.map(|cell| {
                    valid.push(cell.is_some());
                    cell.unwrap_or_default()
                })),
                (other, _) => other.refuse(stringify!($name)),
            }
            debug_assert_eq!(column.cells.len(), self.rows);
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

    optional_column! {
        optional_bool(bool) => Bool,
        optional_u8(u8) => U8,
        optional_i64(i64) => I64,
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
            Cells::Dictionary(into) => into.extend_strings(cells),
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

    /// Like [`Block::text`], for a dictionary column. All blocks of one buffer share `latest`.
    pub fn name<'t>(&mut self, cells: impl Iterator<Item = &'t str>, latest: &mut NameCache<'t>) -> &mut Self {
        match self.next() {
            Cells::Dictionary(into) => into.extend_names(cells, latest),
            other => other.refuse("name"),
        }
        self
    }

    /// Writes the next column; `write` appends the bytes of each cell in place.
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
            Cells::Dictionary(into) => cells.for_each(|cell| into.push_with(|bytes| write(cell, bytes))),
            other => other.refuse("bytes"),
        }
        self
    }

    /// Like [`Block::bytes_with`], for a nullable column.
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

    /// Writes nulls to the next column, which must be a nullable one of bytes.
    pub fn nulls(&mut self) -> &mut Self {
        let column = self.columns.next().expect("a block has no more columns than its table");
        let missing = self.rows - column.cells.len();
        match (&mut column.cells, &mut column.valid) {
            (Cells::Variable { ends, bytes, .. }, Some(valid)) => {
                ends.resize(ends.len() + missing, offset(bytes.len()));
                valid.resize(self.rows, false);
            }
            (other, _) => other.refuse("nulls"),
        }
        debug_assert_eq!(column.cells.len(), self.rows);
        self
    }

    /// Writes the next column: `cells` has the index in `values` of each row. All blocks of a buffer have the same
    /// `values`.
    pub fn dictionary<'v>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'v [u8]>,
        cells: impl Iterator<Item = u32>,
    ) -> &mut Self {
        match self.next() {
            Cells::Dictionary(into) => into.extend(values, cells),
            other => other.refuse("dictionary"),
        }
        self
    }

    /// Like [`Block::dictionary`], for a nullable column in which no cell is null.
    pub fn optional_dictionary<'v>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'v [u8]>,
        cells: impl Iterator<Item = u32>,
    ) -> &mut Self {
        let column = self.columns.next().expect("a block has no more columns than its table");
        match (&mut column.cells, &mut column.valid) {
            (Cells::Dictionary(into), Some(valid)) => {
                into.extend(values, cells);
                valid.resize(self.rows, true);
            }
            (other, _) => other.refuse("optional dictionary"),
        }
        debug_assert_eq!(column.cells.len(), self.rows);
        self
    }

    /// Writes strings to the next column, a nullable dictionary column. An empty string is a null.
    pub fn non_empty_text<'t>(&mut self, cells: impl Iterator<Item = &'t str>) -> &mut Self {
        let column = self.columns.next().expect("a block has no more columns than its table");
        match (&mut column.cells, &mut column.valid) {
            (Cells::Dictionary(into), Some(valid)) => {
                into.extend_strings(cells.inspect(|text| valid.push(!text.is_empty())));
            }
            (other, _) => other.refuse("optional text"),
        }
        debug_assert_eq!(column.cells.len(), self.rows);
        self
    }

    /// Writes the next column of values with their hashes, see
    /// [`DictionaryCells::extend_hashed`](super::dictionary_cells::DictionaryCells::extend_hashed).
    pub fn dictionary_hashed<'v>(&mut self, cells: impl Iterator<Item = (&'v [u8], u64)>) -> &mut Self {
        match self.next() {
            Cells::Dictionary(into) => into.extend_hashed(cells),
            other => other.refuse("dictionary"),
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
