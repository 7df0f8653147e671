//! A bounded pool of row buffers that requests reuse: growing thirty vectors from nothing would cost more than filling
//! them. Buffers beyond the bounds are freed.

use parking_lot::Mutex;

use super::buffer::TableBuffer;
use super::keys::ExceptionKeys;
use crate::tables::Table;

/// Maximum number of buffers, over all tables.
const BUFFERS_MAX: usize = 64;
/// Maximum bytes of one buffer.
const BUFFER_BYTES_MAX: usize = 2 << 20;
/// Maximum bytes of all buffers.
const BYTES_MAX: usize = 8 << 20;

/// The memory of rows, without rows.
#[derive(Debug)]
pub(super) struct PooledRows {
    pub(super) buffer: TableBuffer,
    pub(super) records: Vec<u32>,
    pub(super) exception_keys: Vec<ExceptionKeys>,
}

struct Pool {
    /// Buffers with their bytes.
    rows: Vec<(PooledRows, usize)>,
    bytes: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { rows: Vec::new(), bytes: 0 });

/// Takes an empty buffer of `table` from the pool; `None` when there is none.
pub(super) fn take(table: Table) -> Option<PooledRows> {
    let mut pool = POOL.lock();
    let place = pool.rows.iter().rposition(|(rows, _)| rows.buffer.table() == table)?;
    let (rows, bytes) = pool.rows.swap_remove(place);
    pool.bytes -= bytes;
    Some(rows)
}

/// Moves the memory of rows that are being dropped into the pool.
pub(super) fn put_back(buffer: &mut TableBuffer, records: &mut Vec<u32>, exception_keys: &mut Vec<ExceptionKeys>) {
    let bytes = buffer.capacity_bytes() + records.capacity() * size_of::<u32>();
    if bytes == 0 || bytes > BUFFER_BYTES_MAX {
        return;
    }
    let mut pool = POOL.lock();
    if pool.rows.len() >= BUFFERS_MAX || pool.bytes + bytes > BYTES_MAX {
        return;
    }
    buffer.clear();
    records.clear();
    exception_keys.clear();
    let kept = PooledRows {
        buffer: std::mem::replace(buffer, TableBuffer::new(buffer.table())),
        records: std::mem::take(records),
        exception_keys: std::mem::take(exception_keys),
    };
    pool.rows.push((kept, bytes));
    pool.bytes += bytes;
}
