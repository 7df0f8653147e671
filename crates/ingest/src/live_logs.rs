//! Log records of new requests for live tails, in the order in which they were stored.
//!
//! A request whose project nobody watches costs one look-up. The records of a watched project are copied into a ring
//! of bounded size after they are durable; a tail that reads too slowly finds the oldest ones missing, and their
//! number. Storing never waits for a tail.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow::array::RecordBatch;
use parking_lot::Mutex;
use tidewatch_limits as limits;
use tidewatch_store::columns::{Pick, Rows, TableBuffer};
use tidewatch_store::tables::Table;
use tokio::sync::watch;

/// The ring of records, and the projects that are watched.
#[derive(Debug)]
pub struct LiveLogs {
    ring: Mutex<Ring>,
    /// The number of the next batch.
    published: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Ring {
    batches: VecDeque<Batch>,
    bytes: usize,
    /// Number of the next batch.
    next: u64,
    /// By project.
    watched: HashMap<u32, Watched>,
}

/// A watched project.
#[derive(Debug, Default)]
struct Watched {
    tails: usize,
    /// Log records since the first tail began.
    records: u64,
}

/// The log records of one request.
#[derive(Debug)]
struct Batch {
    number: u64,
    project: u32,
    /// Records of the project before these, as [`Watched::records`] counts them.
    first: u64,
    /// Records of the request.
    records: u64,
    /// Of these, as many as fit.
    rows: RecordBatch,
    bytes: usize,
}

/// Log records of one request that are not published yet.
#[derive(Debug)]
pub struct NewLogs {
    project: u32,
    records: u64,
    buffer: TableBuffer,
}

/// Records since the previous call of [`Tail::next`].
#[derive(Debug, Default)]
pub struct Arrived {
    /// Batches with the columns of [`Table::Logs`] in memory, oldest first.
    pub rows: Vec<RecordBatch>,
    /// Number of records of the project that are in no batch: the tail read too slowly, or a request had too many.
    pub missed: u64,
}

/// A reader of the new log records of one project.
#[derive(Debug)]
pub struct Tail {
    live: Arc<LiveLogs>,
    project: u32,
    published: watch::Receiver<u64>,
    /// Number of the next batch.
    next: u64,
    /// Records of the project so far.
    records: u64,
}

impl Default for LiveLogs {
    fn default() -> LiveLogs {
        LiveLogs { ring: Mutex::default(), published: watch::channel(0).0 }
    }
}

impl LiveLogs {
    /// Copies the log records of a request, without those received before. `None` when nobody watches the project, or
    /// there is none. `is_duplicate`: by index of the record.
    pub fn copy(&self, rows: &Rows, is_duplicate: &dyn Fn(usize) -> bool) -> Option<NewLogs> {
        let table = rows.tables.iter().find(|table| table.buffer.table() == Table::Logs)?;
        if !self.ring.lock().watched.contains_key(&rows.project) {
            return None;
        }
        let is_new = |record: &u32| !is_duplicate(*record as usize);
        let records = table.records.iter().filter(|record| is_new(record)).count();
        // Records of a request are mostly of about one size.
        let (rows_in, bytes) = (table.buffer.rows(), table.buffer.bytes());
        let is_large = bytes > limits::LIVE_TAIL_REQUEST_BYTES_MAX;
        let mut room = if is_large { rows_in * limits::LIVE_TAIL_REQUEST_BYTES_MAX / bytes } else { rows_in };
        let mut keep = |record: &u32| {
            let keeps = is_new(record) && room > 0;
            room -= usize::from(keeps);
            keeps
        };
        let keep: Vec<bool> = table.records.iter().map(&mut keep).collect();
        let mut buffer = TableBuffer::new(Table::Logs);
        buffer.append(&table.buffer, Pick::Kept(&keep));
        if buffer.bytes() > 2 * limits::LIVE_TAIL_REQUEST_BYTES_MAX {
            buffer = TableBuffer::new(Table::Logs);
        }
        (records > 0).then_some(NewLogs { project: rows.project, records: records as u64, buffer })
    }

    /// Hands records to the tails of their project.
    pub fn publish(&self, logs: NewLogs) {
        let NewLogs { project, records, buffer } = logs;
        let bytes = buffer.bytes();
        let rows = buffer.into_batch();
        let mut ring = self.ring.lock();
        let Some(watched) = ring.watched.get_mut(&project) else { return };
        let first = watched.records;
        watched.records += records;
        let number = ring.next;
        ring.next += 1;
        ring.bytes += bytes;
        ring.batches.push_back(Batch { number, project, first, records, rows, bytes });
        while ring.bytes > limits::LIVE_TAIL_BYTES_MAX || ring.batches.len() > limits::LIVE_TAIL_BATCHES_MAX {
            let Some(oldest) = ring.batches.pop_front() else { break };
            ring.bytes -= oldest.bytes;
        }
        self.published.send_replace(ring.next);
    }

    /// Starts a tail of the records that are stored from now.
    pub fn tail(self: &Arc<LiveLogs>, project: u32) -> Tail {
        let mut ring = self.ring.lock();
        let next = ring.next;
        let watched = ring.watched.entry(project).or_default();
        watched.tails += 1;
        let records = watched.records;
        Tail { live: self.clone(), project, published: self.published.subscribe(), next, records }
    }
}

impl Tail {
    /// Waits for records of the project. A cancelled call loses none.
    pub async fn next(&mut self) -> Arrived {
        loop {
            let next = self.next;
            // The sender lives in `live`.
            let _ = self.published.wait_for(|published| *published > next).await;
            let arrived = self.arrived();
            if !arrived.rows.is_empty() || arrived.missed > 0 {
                return arrived;
            }
        }
    }

    fn arrived(&mut self) -> Arrived {
        let ring = self.live.ring.lock();
        let mut arrived = Arrived::default();
        for batch in ring.batches.iter().filter(|batch| batch.number >= self.next && batch.project == self.project) {
            let rows = batch.rows.num_rows();
            arrived.missed += batch.first.saturating_sub(self.records) + batch.records.saturating_sub(rows as u64);
            self.records = batch.first + batch.records;
            if rows > 0 {
                arrived.rows.push(batch.rows.clone());
            }
        }
        self.next = ring.next;
        // Batches that were discarded after the last one in the ring.
        let records = ring.watched.get(&self.project).map_or(self.records, |watched| watched.records);
        arrived.missed += records.saturating_sub(self.records);
        self.records = records;
        arrived
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let mut ring = self.live.ring.lock();
        if let Some(watched) = ring.watched.get_mut(&self.project) {
            watched.tails -= 1;
            if watched.tails == 0 {
                ring.watched.remove(&self.project);
            }
        }
        if ring.watched.is_empty() {
            ring.batches.clear();
            ring.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::model::Signal;

    use super::*;

    /// A request with log records of these lengths; all else is empty.
    fn request(project: u32, lengths: &[usize]) -> Rows {
        let mut buffer = TableBuffer::new(Table::Logs);
        for length in lengths {
            let body = "x".repeat(*length);
            let mut row = buffer.row();
            row.u32(project).text("shop").i64(1).i64(0).u8(9).text("INFO").text(&body);
            row.id(&[0; 16]).id(&[0; 8]).text("").u32(0).text("").text("").bytes(b"").bytes(b"").bytes(b"").u32(0);
        }
        Rows::from_buffer(project, Signal::Logs, buffer)
    }

    fn publish(live: &LiveLogs, rows: &Rows) {
        if let Some(copy) = live.copy(rows, &|_| false) {
            live.publish(copy);
        }
    }

    fn rows(arrived: &Arrived) -> usize {
        arrived.rows.iter().map(RecordBatch::num_rows).sum()
    }

    #[tokio::test]
    async fn a_tail_reads_the_new_records_of_its_project_once() {
        let live = Arc::new(LiveLogs::default());
        assert!(live.copy(&request(1, &[1]), &|_| false).is_none(), "nobody watches");
        let mut tail = live.tail(1);
        publish(&live, &request(2, &[1]));
        publish(&live, &request(1, &[1, 2]));
        live.publish(live.copy(&request(1, &[1, 2, 3]), &|record| record == 1).expect("watched"));
        assert!(live.copy(&request(1, &[1]), &|_| true).is_none(), "a repeated request");
        let arrived = tail.next().await;
        assert_eq!((rows(&arrived), arrived.missed), (4, 0));
        publish(&live, &request(1, &[7]));
        assert_eq!(rows(&tail.next().await), 1);
        drop(tail);
        assert!(live.copy(&request(1, &[1]), &|_| false).is_none(), "nobody watches any longer");
        assert!(live.ring.lock().batches.is_empty());
    }

    /// Memory is bounded, and what is missing is counted.
    #[tokio::test]
    async fn a_slow_tail_finds_the_number_of_records_that_it_missed() {
        let live = Arc::new(LiveLogs::default());
        let (mut slow, mut quick) = (live.tail(1), live.tail(1));
        let each = limits::LIVE_TAIL_REQUEST_BYTES_MAX / 2;
        let requests = 3 * limits::LIVE_TAIL_BYTES_MAX / each;
        let mut read = 0;
        for _ in 0..requests {
            publish(&live, &request(1, &[each / 2, each / 2]));
            let arrived = quick.next().await;
            assert_eq!(arrived.missed, 0);
            read += rows(&arrived);
            assert!(live.ring.lock().bytes <= limits::LIVE_TAIL_BYTES_MAX);
        }
        assert_eq!(read, 2 * requests);
        let arrived = slow.next().await;
        assert!(rows(&arrived) > 0 && arrived.missed > 0);
        assert_eq!(rows(&arrived) as u64 + arrived.missed, 2 * requests as u64);
        // Requests without a byte count too.
        for _ in 0..2 * limits::LIVE_TAIL_BATCHES_MAX {
            publish(&live, &request(1, &[0]));
        }
        let arrived = slow.next().await;
        assert_eq!(rows(&arrived), limits::LIVE_TAIL_BATCHES_MAX);
        assert_eq!(arrived.missed, limits::LIVE_TAIL_BATCHES_MAX as u64);
    }

    #[tokio::test]
    async fn a_large_request_is_read_in_part() {
        let live = Arc::new(LiveLogs::default());
        let mut tail = live.tail(1);
        publish(&live, &request(1, &[limits::LIVE_TAIL_REQUEST_BYTES_MAX / 4; 16]));
        let arrived = tail.next().await;
        assert!((1..=4).contains(&rows(&arrived)), "{}", rows(&arrived));
        assert_eq!(rows(&arrived) as u64 + arrived.missed, 16);
        publish(&live, &request(1, &[8 * limits::LIVE_TAIL_REQUEST_BYTES_MAX]));
        let arrived = tail.next().await;
        assert_eq!((rows(&arrived), arrived.missed), (0, 1));
    }
}
