//! A bounded pool of row buffers that requests reuse: growing thirty vectors from nothing would cost more than filling
//! them. Buffers beyond the bounds are freed.

use parking_lot::Mutex;

use super::TableRows;
use crate::tables::Table;

/// Maximum number of buffers, over all tables.
const BUFFERS_MAX: usize = 64;
/// Maximum bytes of one buffer.
const BUFFER_BYTES_MAX: usize = 2 << 20;
/// Maximum bytes of all buffers.
const BYTES_MAX: usize = 8 << 20;

struct Pool {
    /// Buffers with their bytes.
    rows: Vec<(TableRows, usize)>,
    bytes: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { rows: Vec::new(), bytes: 0 });

/// Takes an empty buffer of `table` from the pool; `None` when there is none.
pub(super) fn take(table: Table) -> Option<TableRows> {
    let mut pool = POOL.lock();
    let place = pool.rows.iter().rposition(|(rows, _)| rows.buffer.table() == table)?;
    let (rows, bytes) = pool.rows.swap_remove(place);
    pool.bytes -= bytes;
    Some(rows)
}

/// Moves the memory of rows that are being dropped into the pool.
pub(super) fn put_back(rows: &mut TableRows) {
    let bytes = rows.buffer.capacity_bytes() + rows.records.capacity() * size_of::<u32>();
    if bytes == 0 || bytes > BUFFER_BYTES_MAX {
        return;
    }
    let mut pool = POOL.lock();
    if pool.rows.len() >= BUFFERS_MAX || pool.bytes + bytes > BYTES_MAX {
        return;
    }
    rows.buffer.clear();
    rows.records.clear();
    rows.exception_keys.clear();
    let kept = TableRows {
        buffer: rows.take_buffer(),
        records: std::mem::take(&mut rows.records),
        exception_keys: std::mem::take(&mut rows.exception_keys),
    };
    pool.rows.push((kept, bytes));
    pool.bytes += bytes;
}
