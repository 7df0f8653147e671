//! Reuses the buffers of flushed rows for new rows: allocating fresh pages would take a tenth of all processor time.
//!
//! Rows in memory and pooled buffers together take no more memory than rows alone: a pooled buffer is used before new
//! memory, and when a table has none, the same amount of other buffers is freed. All buffers are freed when none was
//! used for a while.
//!
//! Invariant: only buffers that nothing refers to are used again.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use parking_lot::Mutex;

use crate::dedup::KeySet;
use tidewatch_store::columns::TableBuffer;
use tidewatch_store::tables::Table;

/// Buffers that are unused for this long are freed.
pub const UNUSED_MAX: Duration = Duration::from_secs(5);

pub struct BufferPool {
    inner: Mutex<Inner>,
    bytes_max: usize,
}

#[derive(Default)]
struct Inner {
    /// By table number, each buffer with its size in bytes.
    chunks: [Vec<(TableBuffer, usize)>; Table::ALL.len()],
    /// Size of all buffers.
    bytes: usize,
    keys: Option<KeySet>,
    touched: Option<Instant>,
}

impl BufferPool {
    /// Starts an empty pool of at most `bytes_max` bytes: the size of a flushed memtable while rows arrive, and twice
    /// that while none do.
    pub fn within(bytes_max: usize) -> BufferPool {
        BufferPool { inner: Mutex::default(), bytes_max }
    }

    /// Keeps the memory of a flushed key set.
    pub fn give_keys(&self, mut set: KeySet) {
        set.clear();
        let mut inner = self.inner.lock();
        inner.keys = Some(set);
        inner.touched = Some(Instant::now());
    }

    /// Takes an empty set with capacity.
    pub fn take_keys(&self) -> Option<KeySet> {
        self.inner.lock().keys.take()
    }

    /// Keeps the buffers of a batch of this table that have no other owner.
    pub fn give(&self, table: Table, batch: RecordBatch) {
        let chunk = TableBuffer::from_memory_of(table, batch);
        let bytes = chunk.capacity_bytes();
        let mut inner = self.inner.lock();
        if bytes > 0 && inner.bytes + bytes <= self.bytes_max {
            inner.bytes += bytes;
            inner.chunks[table as usize].push((chunk, bytes));
            inner.touched = Some(Instant::now());
        }
    }

    /// Takes an empty buffer with capacity. When there is none of this table, frees `wanted` bytes of other buffers.
    pub fn take(&self, table: Table, wanted: usize) -> Option<TableBuffer> {
        let mut inner = self.inner.lock();
        if let Some((chunk, bytes)) = inner.chunks[table as usize].pop() {
            inner.bytes -= bytes;
            inner.touched = Some(Instant::now());
            return Some(chunk);
        }
        let dropped = inner.shrink(wanted);
        drop(inner);
        drop(dropped);
        None
    }

    /// The time at which [`BufferPool::release_unused`] has work; `None` for an empty pool.
    pub fn due(&self) -> Option<Instant> {
        let inner = self.inner.lock();
        inner.touched.map(|touched| touched + UNUSED_MAX)
    }

    /// Frees all buffers when none was taken or given for [`UNUSED_MAX`].
    pub fn release_unused(&self, now: Instant) {
        let mut inner = self.inner.lock();
        if inner.touched.is_some_and(|touched| now >= touched + UNUSED_MAX) {
            let all = std::mem::take(&mut *inner);
            drop(inner);
            drop(all);
        }
    }
}

impl Inner {
    /// Removes buffers of at least `wanted` bytes.
    fn shrink(&mut self, wanted: usize) -> Vec<TableBuffer> {
        let mut out = Vec::new();
        let mut bytes = 0;
        for chunks in &mut self.chunks {
            while bytes < wanted
                && let Some((chunk, of_chunk)) = chunks.pop()
            {
                bytes += of_chunk;
                self.bytes -= of_chunk;
                out.push(chunk);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray, RecordBatch};

    use super::*;
    use tidewatch_store::columns::Pick;

    fn rows(rows: u8) -> TableBuffer {
        let mut buffer = TableBuffer::new(Table::Tasks);
        for number in 0..rows {
            let mut row = buffer.row();
            row.u32(1).text("run/emails").i64(i64::from(number)).i64(5).i16(0);
            row.id(&[number; 16]).id(&[number; 8]).id(&[0; 8]).id(&[number; 16]);
            row.bool(true).bool(false).bool(number % 2 == 0).text("shop").text("").text("10.0.0.1").i64(0).f64(1.0);
            row.bytes(&[number; 300]).optional_bytes(None).optional_text(None).optional_bytes(None);
        }
        buffer
    }

    /// The addresses of the columns' first buffers.
    fn addresses(batch: &RecordBatch) -> Vec<usize> {
        let first = |data: arrow::array::ArrayData| data.buffers()[0].as_ptr().addr();
        batch.columns().iter().map(|column| first(column.to_data())).collect()
    }

    #[test]
    fn new_rows_reuse_the_memory_of_earlier_rows() {
        let buffer_pool = BufferPool::within(1 << 20);
        let expected = rows(40).into_batch();
        let batch = rows(40).into_batch();
        assert_eq!(batch, expected);
        let before = addresses(&batch);
        buffer_pool.give(Table::Tasks, batch);
        assert!(buffer_pool.take(Table::Spans, 0).is_none(), "of another table");
        let mut reused = buffer_pool.take(Table::Tasks, 0).expect("a chunk was given");
        assert_eq!(reused.rows(), 0);
        reused.append(&rows(40), Pick::All);
        let reused = reused.into_batch();
        assert_eq!(reused, expected);
        for (column, (now, before)) in reused.columns().iter().zip(addresses(&reused).iter().zip(&before)) {
            // Booleans are packed again.
            assert!(now == before || column.as_boolean_opt().is_some(), "{:?}", column.data_type());
        }
    }

    /// A running query keeps its rows.
    #[test]
    fn buffers_with_another_owner_are_not_reused() {
        let buffer_pool = BufferPool::within(1 << 20);
        let batch = rows(40).into_batch();
        let (before, held) = (addresses(&batch), batch.project(&[1, 2, 17]).expect("three columns"));
        let expected = rows(40).into_batch().project(&[1, 2, 17]).expect("three columns");
        buffer_pool.give(Table::Tasks, batch);
        let mut reused = buffer_pool.take(Table::Tasks, 0).expect("the other columns");
        reused.append(&rows(50), Pick::All);
        let reused = addresses(&reused.into_batch());
        assert_eq!(held, expected);
        let is_moved = |column: usize| reused[column] != before[column];
        assert!([1, 2, 17].into_iter().all(is_moved), "{reused:?} {before:?}");
    }

    #[test]
    fn buffers_of_other_tables_are_freed_for_a_table_without_any() {
        let buffer_pool = BufferPool::within(1 << 20);
        (0..3).for_each(|_| buffer_pool.give(Table::Tasks, rows(40).into_batch()));
        assert!(buffer_pool.take(Table::Spans, 1).is_none());
        let left = std::iter::from_fn(|| buffer_pool.take(Table::Tasks, 0)).count();
        assert_eq!(left, 2);
    }

    #[test]
    fn the_pool_is_bounded() {
        let one = {
            let buffer_pool = BufferPool::within(1 << 20);
            buffer_pool.give(Table::Tasks, rows(40).into_batch());
            buffer_pool.take(Table::Tasks, 0).expect("a chunk was given").capacity_bytes()
        };
        let buffer_pool = BufferPool::within(one * 5 / 2);
        (0..4).for_each(|_| buffer_pool.give(Table::Tasks, rows(40).into_batch()));
        assert_eq!(std::iter::from_fn(|| buffer_pool.take(Table::Tasks, 0)).count(), 2);
        buffer_pool.give(Table::Tasks, rows(40).into_batch());
        assert!(buffer_pool.take(Table::Tasks, 0).is_some(), "there is room again");
    }

    #[test]
    fn unused_buffers_are_freed() {
        let buffer_pool = BufferPool::within(1 << 20);
        assert_eq!(buffer_pool.due(), None);
        buffer_pool.give(Table::Tasks, rows(40).into_batch());
        let due = buffer_pool.due().expect("a chunk was given");
        buffer_pool.release_unused(due - Duration::from_nanos(1));
        assert_eq!(buffer_pool.due(), Some(due));
        buffer_pool.release_unused(due);
        assert_eq!(buffer_pool.due(), None);
        assert!(buffer_pool.take(Table::Tasks, 0).is_none());
    }
}
