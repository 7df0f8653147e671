//! Vectors of cells: variable-length cells as ends and bytes, and reuse of the memory of Arrow arrays.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, BinaryArray, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::ArrowNativeType;

use super::pick::Pick;
use crate::tables::Kind;

/// Offsets have 32 bits. Buffers stay below 2 GiB: the memtable seals a chunk long before (see `lake::memtable`), and
/// one request is far smaller.
pub(super) fn offset(length: usize) -> i32 {
    i32::try_from(length).expect("a buffer holds less than 2 GiB of one column")
}

/// The variable-length cell of `row`.
pub(super) fn variable<'c>(ends: &[i32], bytes: &'c [u8], row: usize) -> &'c [u8] {
    let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
    &bytes[start..ends[row] as usize]
}

/// The vectors behind an array of variable-length cells, cleared: ends and bytes.
pub(super) fn variable_memory_of(data: ArrayData) -> (Vec<i32>, Vec<u8>) {
    let (_, _, _, _, buffers, _) = data.into_parts();
    let mut buffers = buffers.into_iter();
    (memory_of(buffers.next()), memory_of(buffers.next()))
}

pub(super) fn extend<T: Copy>(into: &mut Vec<T>, from: &[T], pick: Pick<'_>) {
    match pick {
        Pick::All => into.extend_from_slice(from),
        Pick::Kept(keep) => into.extend(from.iter().zip(keep).filter(|(_, keep)| **keep).map(|(cell, _)| *cell)),
        Pick::Order(order) => into.extend(order.iter().map(|row| from[*row as usize])),
    }
}

/// Appends the picked variable-length cells, with their ends shifted.
pub(super) fn extend_variable(
    ends: &mut Vec<i32>,
    bytes: &mut Vec<u8>,
    from_ends: &[i32],
    from: &[u8],
    pick: Pick<'_>,
) {
    let mut push = |cell: &[u8]| {
        bytes.extend_from_slice(cell);
        ends.push(offset(bytes.len()));
    };
    match pick {
        Pick::All => {
            let base = offset(bytes.len());
            offset(bytes.len() + from.len());
            bytes.extend_from_slice(from);
            ends.extend(from_ends.iter().map(|end| base + end));
        }
        Pick::Kept(keep) => {
            let mut start = 0;
            for (end, keep) in from_ends.iter().zip(keep) {
                let end = *end as usize;
                if *keep {
                    push(&from[start..end]);
                }
                start = end;
            }
        }
        Pick::Order(order) => order.iter().for_each(|row| push(variable(from_ends, from, *row as usize))),
    }
}

/// The vector behind a buffer, cleared; a new vector when the buffer is still referenced elsewhere.
pub(super) fn memory_of<T: ArrowNativeType>(buffer: Option<Buffer>) -> Vec<T> {
    let mut memory = buffer.and_then(|buffer| buffer.into_vec().ok()).unwrap_or_default();
    memory.clear();
    memory
}

pub(super) fn variable_array(kind: Kind, mut ends: Vec<i32>, bytes: Vec<u8>, nulls: Option<NullBuffer>) -> ArrayRef {
    ends.insert(0, 0);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    let bytes = Buffer::from(bytes);
    match kind {
        Kind::Text => {
            // Only `text` methods write into text columns, so this check never fails.
            let array = StringArray::try_new(offsets, bytes, nulls).expect("text columns hold whole UTF-8 strings");
            Arc::new(array) as Arc<dyn Array>
        }
        _ => Arc::new(BinaryArray::new(offsets, bytes, nulls)),
    }
}
