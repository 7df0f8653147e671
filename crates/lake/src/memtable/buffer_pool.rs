//! The memory of rows that a flush has written, for the rows to come: pages that the process has already, where fresh
//! ones would be a tenth of all processor time.
//!
//! Rows in memory and these chunks together take no more than rows alone ever did: a chunk is taken before memory is, and
//! where a table has none, as much of the others goes back. All of it goes back when nobody wanted any for a while.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use parking_lot::Mutex;

use crate::dedup::KeySet;
use tidewatch_store::columns::TableBuffer;
use tidewatch_store::tables::Table;

/// Chunks that nobody took for so long go back to the system.
pub const KEPT: Duration = Duration::from_secs(5);

pub struct SpareChunks {
    inner: Mutex<Inner>,
    bytes_max: usize,
}

#[derive(Default)]
struct Inner {
    /// By table number, with what each takes.
    chunks: [Vec<(TableBuffer, usize)>; Table::ALL.len()],
    /// Of all chunks.
    bytes: usize,
    keys: Option<KeySet>,
    touched: Option<Instant>,
}

impl SpareChunks {
    /// None yet, and never chunks of more than so many bytes: what a flush leaves when rows come, twice that when none do.
    pub fn within(bytes_max: usize) -> SpareChunks {
        SpareChunks { inner: Mutex::default(), bytes_max }
    }

    /// Keeps the memory of keys that are in a file now.
    pub fn give_keys(&self, mut set: KeySet) {
        set.clear();
        let mut inner = self.inner.lock();
        inner.keys = Some(set);
        inner.touched = Some(Instant::now());
    }

    /// An empty set with memory.
    pub fn take_keys(&self) -> Option<KeySet> {
        self.inner.lock().keys.take()
    }

    /// Keeps the memory of a batch that was rows of this table, as far as nobody else has it.
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

    /// An empty buffer with memory. When there is none of this table, `wanted` bytes of the others are let go.
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

    /// When [`SpareChunks::let_go`] has something to do.
    pub fn due(&self) -> Option<Instant> {
        let inner = self.inner.lock();
        inner.touched.map(|touched| touched + KEPT)
    }

    /// Lets all go when nobody took or gave any for [`KEPT`].
    pub fn let_go(&self, now: Instant) {
        let mut inner = self.inner.lock();
        if inner.touched.is_some_and(|touched| now >= touched + KEPT) {
            let all = std::mem::take(&mut *inner);
            drop(inner);
            drop(all);
        }
    }
}

impl Inner {
    /// Takes out chunks of so many bytes.
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
            row.bytes(&[number; 300]);
        }
        buffer
    }

    /// Where the columns' first buffers lie.
    fn addresses(batch: &RecordBatch) -> Vec<usize> {
        let first = |data: arrow::array::ArrayData| data.buffers()[0].as_ptr().addr();
        batch.columns().iter().map(|column| first(column.to_data())).collect()
    }

    #[test]
    fn the_next_rows_lie_where_those_before_lay() {
        let spare = SpareChunks::within(1 << 20);
        let expected = rows(40).into_batch();
        let batch = rows(40).into_batch();
        assert_eq!(batch, expected);
        let before = addresses(&batch);
        spare.give(Table::Tasks, batch);
        assert!(spare.take(Table::Spans, 0).is_none(), "of another table");
        let mut again = spare.take(Table::Tasks, 0).expect("a chunk was given");
        assert_eq!(again.rows(), 0);
        again.append(&rows(40), Pick::All);
        let again = again.into_batch();
        assert_eq!(again, expected);
        for (column, (now, before)) in again.columns().iter().zip(addresses(&again).iter().zip(&before)) {
            // Bits are packed anew.
            assert!(now == before || column.as_boolean_opt().is_some(), "{:?}", column.data_type());
        }
    }

    /// A question that is being answered keeps what it looks at.
    #[test]
    fn what_somebody_else_has_is_theirs() {
        let spare = SpareChunks::within(1 << 20);
        let batch = rows(40).into_batch();
        let (before, held) = (addresses(&batch), batch.project(&[1, 2, 17]).expect("three columns"));
        let expected = rows(40).into_batch().project(&[1, 2, 17]).expect("three columns");
        spare.give(Table::Tasks, batch);
        let mut again = spare.take(Table::Tasks, 0).expect("the other columns");
        again.append(&rows(50), Pick::All);
        let again = addresses(&again.into_batch());
        assert_eq!(held, expected);
        let is_moved = |column: usize| again[column] != before[column];
        assert!([1, 2, 17].into_iter().all(is_moved), "{again:?} {before:?}");
    }

    #[test]
    fn others_are_let_go_for_a_table_that_has_none() {
        let spare = SpareChunks::within(1 << 20);
        (0..3).for_each(|_| spare.give(Table::Tasks, rows(40).into_batch()));
        assert!(spare.take(Table::Spans, 1).is_none());
        let left = std::iter::from_fn(|| spare.take(Table::Tasks, 0)).count();
        assert_eq!(left, 2);
    }

    #[test]
    fn chunks_have_a_bound() {
        let one = {
            let spare = SpareChunks::within(1 << 20);
            spare.give(Table::Tasks, rows(40).into_batch());
            spare.take(Table::Tasks, 0).expect("a chunk was given").capacity_bytes()
        };
        let spare = SpareChunks::within(one * 5 / 2);
        (0..4).for_each(|_| spare.give(Table::Tasks, rows(40).into_batch()));
        assert_eq!(std::iter::from_fn(|| spare.take(Table::Tasks, 0)).count(), 2);
        spare.give(Table::Tasks, rows(40).into_batch());
        assert!(spare.take(Table::Tasks, 0).is_some(), "there is room again");
    }

    #[test]
    fn what_nobody_wants_goes() {
        let spare = SpareChunks::within(1 << 20);
        assert_eq!(spare.due(), None);
        spare.give(Table::Tasks, rows(40).into_batch());
        let due = spare.due().expect("a chunk was given");
        spare.let_go(due - Duration::from_nanos(1));
        assert_eq!(spare.due(), Some(due));
        spare.let_go(due);
        assert_eq!(spare.due(), None);
        assert!(spare.take(Table::Tasks, 0).is_none());
    }
}
