//! Growing column buffers of one table: typed vectors that become Arrow arrays without copying.
//!
//! A row is written cell by cell in the order of [`Table::columns`] ([`TableBuffer::row`]); nothing is allocated
//! per row beyond the amortised growth of the vectors.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};

use crate::arrow_schema;
use crate::tables::{Kind, Table};

/// The cells of one column. Variable-length cells: `bytes[ends[i - 1]..ends[i]]`.
#[derive(Debug, Clone)]
enum Cells {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Variable {
        kind: Kind,
        ends: Vec<i32>,
        bytes: Vec<u8>,
    },
    /// Ids, `width` bytes each.
    Fixed {
        width: usize,
        bytes: Vec<u8>,
    },
}

#[derive(Debug, Clone)]
struct Column {
    cells: Cells,
    /// One flag per row; only for nullable columns.
    valid: Option<Vec<bool>>,
}

/// Rows of one table, in the order they came.
#[derive(Debug, Clone)]
pub struct TableBuffer {
    table: Table,
    columns: Vec<Column>,
    rows: usize,
}

impl TableBuffer {
    pub fn new(table: Table) -> TableBuffer {
        let columns = table
            .columns()
            .iter()
            .map(|column| Column { cells: Cells::new(column.kind), valid: column.nullable.then(Vec::new) })
            .collect();
        TableBuffer { table, columns, rows: 0 }
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

    /// Starts a row; every column must be written, in order.
    pub fn row(&mut self) -> RowWriter<'_> {
        self.rows += 1;
        RowWriter { columns: &mut self.columns, at: 0, rows: self.rows }
    }

    /// Appends the rows of `other` for which `keep` holds (by row number).
    pub fn append(&mut self, other: &TableBuffer, keep: Option<&[bool]>) {
        for (into, from) in self.columns.iter_mut().zip(&other.columns) {
            into.append(from, keep);
        }
        self.rows += match keep {
            Some(keep) => keep.iter().filter(|keep| **keep).count(),
            None => other.rows,
        };
    }

    /// The rows as Arrow, without copying.
    pub fn into_batch(self) -> RecordBatch {
        let arrays = self.columns.into_iter().map(Column::into_array).collect();
        RecordBatch::try_new(arrow_schema(self.table), arrays)
            .expect("every column holds its kind and the same number of rows")
    }
}

/// Writes one row, cell by cell in column order.
pub struct RowWriter<'a> {
    columns: &'a mut [Column],
    /// The column of the coming cell.
    at: usize,
    rows: usize,
}

macro_rules! cell {
    ($($name:ident($type:ty) => $variant:ident),* $(,)?) => { $(
        pub fn $name(&mut self, value: $type) -> &mut Self {
            match self.next() {
                Cells::$variant(cells) => cells.push(value),
                other => other.refuse(stringify!($name)),
            }
            self
        }
    )* };
}

impl RowWriter<'_> {
    cell! {
        bool(bool) => Bool,
        u8(u8) => U8,
        i16(i16) => I16,
        u32(u32) => U32,
        u64(u64) => U64,
        i64(i64) => I64,
        f64(f64) => F64,
    }

    /// A [`Kind::Text`] cell.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// A [`Kind::Bytes`] cell.
    pub fn bytes(&mut self, cell: &[u8]) -> &mut Self {
        self.bytes_with(|bytes| bytes.extend_from_slice(cell))
    }

    /// A [`Kind::Bytes`] cell that `write` appends in place.
    pub fn bytes_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        match self.next() {
            Cells::Variable { ends, bytes, .. } => {
                write(bytes);
                ends.push(offset(bytes.len()));
            }
            other => other.refuse("bytes"),
        }
        self
    }

    /// A [`Kind::Id8`] or [`Kind::Id16`] cell.
    pub fn id(&mut self, id: &[u8]) -> &mut Self {
        match self.next() {
            Cells::Fixed { width, bytes } if *width == id.len() => bytes.extend_from_slice(id),
            other => other.refuse("id"),
        }
        self
    }

    pub fn optional_text(&mut self, value: Option<&str>) -> &mut Self {
        self.mark(value.is_some()).text(value.unwrap_or(""))
    }

    pub fn optional_bytes(&mut self, value: Option<&[u8]>) -> &mut Self {
        self.mark(value.is_some()).bytes(value.unwrap_or(&[]))
    }

    pub fn optional_i64(&mut self, value: Option<i64>) -> &mut Self {
        self.mark(value.is_some()).i64(value.unwrap_or(0))
    }

    pub fn optional_f64(&mut self, value: Option<f64>) -> &mut Self {
        self.mark(value.is_some()).f64(value.unwrap_or(0.0))
    }

    /// Sets whether the coming cell is there.
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

/// Offsets are 32 bits: the memtable seals a chunk long before (see `lake::memtable`), and one request is far smaller.
fn offset(length: usize) -> i32 {
    i32::try_from(length).expect("a buffer holds less than 2 GiB of one column")
}

impl Cells {
    fn new(kind: Kind) -> Cells {
        match kind {
            Kind::Bool => Cells::Bool(Vec::new()),
            Kind::U8 => Cells::U8(Vec::new()),
            Kind::I16 => Cells::I16(Vec::new()),
            Kind::U32 => Cells::U32(Vec::new()),
            Kind::U64 => Cells::U64(Vec::new()),
            Kind::I64 => Cells::I64(Vec::new()),
            Kind::F64 => Cells::F64(Vec::new()),
            Kind::Text | Kind::Bytes => Cells::Variable { kind, ends: Vec::new(), bytes: Vec::new() },
            Kind::Id8 => Cells::Fixed { width: 8, bytes: Vec::new() },
            Kind::Id16 => Cells::Fixed { width: 16, bytes: Vec::new() },
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Cells::Bool(cells) => cells.len(),
            Cells::U8(cells) => cells.len(),
            Cells::I16(cells) => cells.len() * 2,
            Cells::U32(cells) => cells.len() * 4,
            Cells::U64(cells) => cells.len() * 8,
            Cells::I64(cells) => cells.len() * 8,
            Cells::F64(cells) => cells.len() * 8,
            Cells::Variable { ends, bytes, .. } => ends.len() * 4 + bytes.len(),
            Cells::Fixed { bytes, .. } => bytes.len(),
        }
    }

    #[cold]
    fn refuse(&self, written: &str) -> ! {
        panic!("a {written} cell does not fit a column of {self:?}")
    }

    fn append(&mut self, other: &Cells, keep: Option<&[bool]>) {
        match (self, other) {
            (Cells::Bool(into), Cells::Bool(from)) => extend(into, from, keep),
            (Cells::U8(into), Cells::U8(from)) => extend(into, from, keep),
            (Cells::I16(into), Cells::I16(from)) => extend(into, from, keep),
            (Cells::U32(into), Cells::U32(from)) => extend(into, from, keep),
            (Cells::U64(into), Cells::U64(from)) => extend(into, from, keep),
            (Cells::I64(into), Cells::I64(from)) => extend(into, from, keep),
            (Cells::F64(into), Cells::F64(from)) => extend(into, from, keep),
            (Cells::Fixed { bytes: into, width }, Cells::Fixed { bytes: from, .. }) => match keep {
                None => into.extend_from_slice(from),
                Some(keep) => {
                    let kept = from.chunks_exact(*width).zip(keep).filter(|(_, keep)| **keep);
                    kept.for_each(|(id, _)| into.extend_from_slice(id));
                }
            },
            (Cells::Variable { ends, bytes, .. }, Cells::Variable { ends: from_ends, bytes: from, .. }) => {
                extend_variable(ends, bytes, from_ends, from, keep);
            }
            (this, other) => panic!("{other:?} cannot be appended to {this:?}"),
        }
    }
}

fn extend<T: Copy>(into: &mut Vec<T>, from: &[T], keep: Option<&[bool]>) {
    match keep {
        None => into.extend_from_slice(from),
        Some(keep) => into.extend(from.iter().zip(keep).filter(|(_, keep)| **keep).map(|(cell, _)| *cell)),
    }
}

fn extend_variable(ends: &mut Vec<i32>, bytes: &mut Vec<u8>, from_ends: &[i32], from: &[u8], keep: Option<&[bool]>) {
    match keep {
        None => {
            let base = offset(bytes.len());
            offset(bytes.len() + from.len());
            bytes.extend_from_slice(from);
            ends.extend(from_ends.iter().map(|end| base + end));
        }
        Some(keep) => {
            let mut start = 0;
            for (end, keep) in from_ends.iter().zip(keep) {
                let end = *end as usize;
                if *keep {
                    bytes.extend_from_slice(&from[start..end]);
                    ends.push(offset(bytes.len()));
                }
                start = end;
            }
        }
    }
}

impl Column {
    fn append(&mut self, other: &Column, keep: Option<&[bool]>) {
        self.cells.append(&other.cells, keep);
        if let (Some(into), Some(from)) = (&mut self.valid, &other.valid) {
            extend(into, from, keep);
        }
    }

    fn into_array(self) -> ArrayRef {
        let nulls = self.valid.filter(|valid| valid.contains(&false)).map(NullBuffer::from);
        match self.cells {
            Cells::Bool(cells) => Arc::new(BooleanArray::new(BooleanBuffer::from(cells), nulls)),
            Cells::U8(cells) => primitive::<UInt8Type>(cells, nulls),
            Cells::I16(cells) => primitive::<Int16Type>(cells, nulls),
            Cells::U32(cells) => primitive::<UInt32Type>(cells, nulls),
            Cells::U64(cells) => primitive::<UInt64Type>(cells, nulls),
            Cells::I64(cells) => primitive::<Int64Type>(cells, nulls),
            Cells::F64(cells) => primitive::<Float64Type>(cells, nulls),
            Cells::Fixed { width, bytes } => {
                Arc::new(FixedSizeBinaryArray::new(width as i32, Buffer::from(bytes), nulls))
            }
            Cells::Variable { kind, ends, bytes } => variable(kind, ends, bytes, nulls),
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(cells: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(cells), nulls))
}

fn variable(kind: Kind, mut ends: Vec<i32>, bytes: Vec<u8>, nulls: Option<NullBuffer>) -> ArrayRef {
    ends.insert(0, 0);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let bytes = Buffer::from(bytes);
    match kind {
        Kind::Text => {
            // Only `RowWriter::text` writes into text columns, so this check never fails.
            let array = StringArray::try_new(offsets, bytes, nulls).expect("text columns hold whole UTF-8 strings");
            Arc::new(array) as Arc<dyn Array>
        }
        _ => Arc::new(BinaryArray::new(offsets, bytes, nulls)),
    }
}
