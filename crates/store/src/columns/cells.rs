//! The cells of one column.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, BooleanArray, FixedSizeBinaryArray, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowNativeType, ArrowPrimitiveType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type,
};

use super::dictionary_cells::DictionaryCells;
use super::pick::Pick;
use super::vectors::{extend, extend_variable, memory_of, variable, variable_array, variable_memory_of};
use crate::tables::{Column, Kind};

/// The cells of one column by kind. A variable-length cell is `bytes[ends[i - 1]..ends[i]]`.
#[derive(Debug, Clone)]
pub(super) enum Cells {
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
    Dictionary(DictionaryCells),
    /// Ids as native-endian integers, so that their memory can be reused ([`Cells::take_memory`]).
    Id8(Vec<u64>),
    Id16(Vec<u128>),
}

impl Cells {
    pub fn new(column: &Column) -> Cells {
        match column.kind {
            kind if column.is_dictionary => Cells::Dictionary(DictionaryCells::new(kind)),
            Kind::Bool => Cells::Bool(Vec::new()),
            Kind::U8 => Cells::U8(Vec::new()),
            Kind::I16 => Cells::I16(Vec::new()),
            Kind::U32 => Cells::U32(Vec::new()),
            Kind::U64 => Cells::U64(Vec::new()),
            Kind::I64 => Cells::I64(Vec::new()),
            Kind::F64 => Cells::F64(Vec::new()),
            kind @ (Kind::Text | Kind::Bytes) => Cells::Variable { kind, ends: Vec::new(), bytes: Vec::new() },
            Kind::Id8 => Cells::Id8(Vec::new()),
            Kind::Id16 => Cells::Id16(Vec::new()),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Bool(cells) => cells.len(),
            Cells::U8(cells) => cells.len(),
            Cells::I16(cells) => cells.len(),
            Cells::U32(cells) => cells.len(),
            Cells::U64(cells) => cells.len(),
            Cells::I64(cells) => cells.len(),
            Cells::F64(cells) => cells.len(),
            Cells::Variable { ends, .. } => ends.len(),
            Cells::Dictionary(cells) => cells.rows(),
            Cells::Id8(cells) => cells.len(),
            Cells::Id16(cells) => cells.len(),
        }
    }

    /// Bytes per row; of a variable-length or dictionary column without the values.
    fn row_bytes(&self) -> usize {
        match self {
            Cells::Bool(_) | Cells::U8(_) => 1,
            Cells::I16(_) => 2,
            Cells::U32(_) | Cells::Variable { .. } | Cells::Dictionary(_) => 4,
            Cells::U64(_) | Cells::I64(_) | Cells::F64(_) | Cells::Id8(_) => 8,
            Cells::Id16(_) => 16,
        }
    }

    pub fn bytes(&self) -> usize {
        let besides = match self {
            Cells::Variable { bytes, .. } => bytes.len(),
            Cells::Dictionary(cells) => cells.values_bytes(),
            _ => 0,
        };
        self.len() * self.row_bytes() + besides
    }

    pub fn capacity_bytes(&self) -> usize {
        let rows = match self {
            Cells::Bool(cells) => cells.capacity(),
            Cells::U8(cells) => cells.capacity(),
            Cells::I16(cells) => cells.capacity(),
            Cells::U32(cells) => cells.capacity(),
            Cells::U64(cells) => cells.capacity(),
            Cells::I64(cells) => cells.capacity(),
            Cells::F64(cells) => cells.capacity(),
            Cells::Id8(cells) => cells.capacity(),
            Cells::Id16(cells) => cells.capacity(),
            Cells::Variable { ends, bytes, .. } => return ends.capacity() * 4 + bytes.capacity(),
            Cells::Dictionary(cells) => return cells.capacity_bytes(),
        };
        rows * self.row_bytes()
    }

    pub fn clear(&mut self) {
        match self {
            Cells::Bool(cells) => cells.clear(),
            Cells::U8(cells) => cells.clear(),
            Cells::I16(cells) => cells.clear(),
            Cells::U32(cells) => cells.clear(),
            Cells::U64(cells) => cells.clear(),
            Cells::I64(cells) => cells.clear(),
            Cells::F64(cells) => cells.clear(),
            Cells::Id8(cells) => cells.clear(),
            Cells::Id16(cells) => cells.clear(),
            Cells::Variable { ends, bytes, .. } => {
                ends.clear();
                bytes.clear();
            }
            Cells::Dictionary(cells) => cells.clear(),
        }
    }

    /// Reserves capacity for an eighth more rows than `other`, of the same kind, has: a vector that grows beyond its
    /// capacity doubles it.
    pub fn reserve_as(&mut self, other: &Cells) {
        match (self, other) {
            (Cells::Bool(cells), Cells::Bool(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::U8(cells), Cells::U8(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::I16(cells), Cells::I16(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::U32(cells), Cells::U32(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::U64(cells), Cells::U64(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::I64(cells), Cells::I64(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::F64(cells), Cells::F64(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::Id8(cells), Cells::Id8(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::Id16(cells), Cells::Id16(other)) => cells.reserve(with_headroom(other.len())),
            (Cells::Variable { ends, bytes, .. }, Cells::Variable { ends: other_ends, bytes: other, .. }) => {
                // One more: Arrow's offsets begin with a zero.
                ends.reserve(with_headroom(other_ends.len()) + 1);
                bytes.reserve(with_headroom(other.len()));
            }
            (Cells::Dictionary(cells), Cells::Dictionary(other)) => cells.reserve(with_headroom(other.rows())),
            _ => {}
        }
    }

    /// The bytes of a variable-length cell; empty for any other kind.
    pub fn variable(&self, row: usize) -> &[u8] {
        match self {
            Cells::Variable { ends, bytes, .. } => variable(ends, bytes, row),
            _ => &[],
        }
    }

    /// All cells of a column of this kind; `None` for any other.
    pub fn u64(&self) -> Option<&[u64]> {
        match self {
            Cells::U64(cells) => Some(cells),
            _ => None,
        }
    }

    #[cold]
    pub fn refuse(&self, written: &str) -> ! {
        panic!("a {written} cell does not fit a column of {self:?}")
    }

    pub fn append(&mut self, other: &Cells, pick: Pick<'_>) {
        match (self, other) {
            (Cells::Bool(into), Cells::Bool(from)) => extend(into, from, pick),
            (Cells::U8(into), Cells::U8(from)) => extend(into, from, pick),
            (Cells::I16(into), Cells::I16(from)) => extend(into, from, pick),
            (Cells::U32(into), Cells::U32(from)) => extend(into, from, pick),
            (Cells::U64(into), Cells::U64(from)) => extend(into, from, pick),
            (Cells::I64(into), Cells::I64(from)) => extend(into, from, pick),
            (Cells::F64(into), Cells::F64(from)) => extend(into, from, pick),
            (Cells::Id8(into), Cells::Id8(from)) => extend(into, from, pick),
            (Cells::Id16(into), Cells::Id16(from)) => extend(into, from, pick),
            (Cells::Dictionary(into), Cells::Dictionary(from)) => into.append(from, pick),
            (Cells::Variable { ends, bytes, .. }, Cells::Variable { ends: from_ends, bytes: from, .. }) => {
                extend_variable(ends, bytes, from_ends, from, pick);
            }
            (this, other) => panic!("{other:?} cannot be appended to {this:?}"),
        }
    }

    /// Reuses the vectors behind an array of [`Cells::into_array`], except those that are still referenced elsewhere.
    pub fn take_memory(&mut self, array: ArrayRef) {
        let data = array.to_data();
        drop(array);
        match self {
            // The array has bits, not bytes.
            Cells::Bool(_) => {}
            Cells::U8(cells) => *cells = only_memory_of(data),
            Cells::I16(cells) => *cells = only_memory_of(data),
            Cells::U32(cells) => *cells = only_memory_of(data),
            Cells::U64(cells) => *cells = only_memory_of(data),
            Cells::I64(cells) => *cells = only_memory_of(data),
            Cells::F64(cells) => *cells = only_memory_of(data),
            Cells::Id8(cells) => *cells = only_memory_of(data),
            Cells::Id16(cells) => *cells = only_memory_of(data),
            Cells::Variable { ends, bytes, .. } => (*ends, *bytes) = variable_memory_of(data),
            Cells::Dictionary(cells) => cells.take_memory(data),
        }
    }

    pub fn into_array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        match self {
            Cells::Bool(cells) => Arc::new(BooleanArray::new(BooleanBuffer::from(cells), nulls)),
            Cells::U8(cells) => primitive::<UInt8Type>(cells, nulls),
            Cells::I16(cells) => primitive::<Int16Type>(cells, nulls),
            Cells::U32(cells) => primitive::<UInt32Type>(cells, nulls),
            Cells::U64(cells) => primitive::<UInt64Type>(cells, nulls),
            Cells::I64(cells) => primitive::<Int64Type>(cells, nulls),
            Cells::F64(cells) => primitive::<Float64Type>(cells, nulls),
            Cells::Id8(ids) => fixed(8, Buffer::from(ids), nulls),
            Cells::Id16(ids) => fixed(16, Buffer::from(ids), nulls),
            Cells::Variable { kind, ends, bytes } => variable_array(kind, ends, bytes, nulls),
            Cells::Dictionary(cells) => cells.into_array(nulls),
        }
    }
}

/// The vector behind an array of one buffer.
fn only_memory_of<T: ArrowNativeType>(data: ArrayData) -> Vec<T> {
    let (_, _, _, _, buffers, _) = data.into_parts();
    memory_of(buffers.into_iter().next())
}

fn with_headroom(length: usize) -> usize {
    length + length / 8
}

fn fixed(width: i32, bytes: Buffer, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::new(width, bytes, nulls))
}

fn primitive<T: ArrowPrimitiveType>(cells: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(cells), nulls))
}
