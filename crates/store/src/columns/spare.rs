//! Memory of rows that are stored or dropped, for the next request: growing thirty vectors from nothing would cost more
//! than filling them. Bounded; what does not fit is freed.

use parking_lot::Mutex;

use super::TableRows;
use crate::tables::Table;

/// Buffers kept, over all tables …
const BUFFERS_MAX: usize = 64;
/// … of at most so many bytes each …
const BUFFER_BYTES_MAX: usize = 2 << 20;
/// … and so many together.
const BYTES_MAX: usize = 8 << 20;

struct Spare {
    /// With what each takes.
    rows: Vec<(TableRows, usize)>,
    bytes: usize,
}

static SPARE: Mutex<Spare> = Mutex::new(Spare { rows: Vec::new(), bytes: 0 });

/// Empty rows of this table with memory, when there are some.
pub(super) fn take(table: Table) -> Option<TableRows> {
    let mut spare = SPARE.lock();
    let place = spare.rows.iter().rposition(|(rows, _)| rows.buffer.table() == table)?;
    let (rows, bytes) = spare.rows.swap_remove(place);
    spare.bytes -= bytes;
    Some(rows)
}

/// Takes the memory out of rows that are about to be dropped.
pub(super) fn give(rows: &mut TableRows) {
    let bytes = rows.buffer.capacity_bytes() + rows.records.capacity() * size_of::<u32>();
    if bytes == 0 || bytes > BUFFER_BYTES_MAX {
        return;
    }
    let mut spare = SPARE.lock();
    if spare.rows.len() >= BUFFERS_MAX || spare.bytes + bytes > BYTES_MAX {
        return;
    }
    rows.buffer.clear();
    rows.records.clear();
    rows.twins.clear();
    let kept = TableRows {
        buffer: rows.take_buffer(),
        records: std::mem::take(&mut rows.records),
        twins: std::mem::take(&mut rows.twins),
    };
    spare.rows.push((kept, bytes));
    spare.bytes += bytes;
}
