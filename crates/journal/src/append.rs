//! `Journal`: the public handle, and the bounded queue in front of the single writer thread.
//!
//! Callers copy their record into the buffer of the next group, so all records that arrive during one sync share the
//! next one (group commit). Two buffers are swapped; nothing is allocated per record.

use crate::disk::DiskLock;
use crate::heartbeat::Heartbeat;
use crate::latency::{Histogram, Latencies};
use crate::replay::{self, ReplayReport};
use crate::segment::{RECORD_HEADER_BYTES, RecordHeader};
use crate::segments::{DurableSegment, Segments, TrimGuard};
use crate::writer::Writer;
use crate::{AppendError, OpenError, Options, Position};
use parking_lot::{Condvar, Mutex};
use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tracing::warn;

/// An open journal. Each appended record carries a value of type `T`, which `on_durable` gets back.
///
/// Dropping it writes the queued records and joins the writer thread, like `shutdown`.
pub struct Journal<T> {
    shared: Arc<Shared<T>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The result of [`Journal::open`].
pub struct Opened<T> {
    /// The journal, with its writer thread running.
    pub journal: Journal<T>,
    /// Report of the replay.
    pub report: ReplayReport,
}

/// Records that are not durable yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Records queued for the next group.
    pub records: usize,
    /// Bytes of the queue and of the group being written.
    pub bytes: usize,
}

struct Shared<T> {
    queue: Mutex<Queue<T>>,
    arrived: Condvar,
    segments: Arc<Segments>,
    commits: Histogram,
    bytes_max: u64,
    spare_bytes_min: u64,
    record_bytes_max: usize,
    queue_bytes_max: usize,
    heartbeat: Heartbeat,
    /// Whether the last group or probe succeeded.
    is_writable: AtomicBool,
    /// Released once both the journal and its thread have dropped it.
    _lock: DiskLock,
}

struct Queue<T> {
    /// Concatenated records whose headers lack `back` and `check`.
    group: Vec<u8>,
    /// One value per record in `group`.
    values: Vec<T>,
    /// Size of the group that the writer is committing.
    writing_bytes: usize,
    /// Set by `rotate`.
    rotate: bool,
    /// Set by `is_writable`.
    probe: bool,
    closed: bool,
}

/// A journal whose thread is not started, the thread's worker, and the replay report.
type Unstarted<T, S> = (Journal<T>, Worker<T, S>, ReplayReport);

/// State of the writer thread.
pub(crate) struct Worker<T, S> {
    shared: Arc<Shared<T>>,
    writer: Writer,
    on_durable: S,
    group: Vec<u8>,
    values: Vec<T>,
}

impl<T: Send + 'static> Journal<T> {
    /// Replays every record after `from`, in order, and starts the writer thread.
    ///
    /// - `from` is `Position(0)` or the position of a record; segments before it are removed.
    /// - `replay` gets the position and payload of each record. An error aborts the opening.
    /// - `on_durable` runs on the writer thread, in order, once per appended record: with the record's position once it
    ///   is durable, or with the error that kept it out of the journal. It must not block for long.
    ///
    /// # Errors
    /// `Locked` when another process has the journal open, `Version` for segments of a later program version, `Io` for
    /// a disk failure. Damaged records are not an error: they are in the report.
    pub fn open(
        options: Options,
        from: Position,
        replay: impl FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>>,
        on_durable: impl FnMut(T, Result<Position, AppendError>) + Send + 'static,
    ) -> Result<Opened<T>, OpenError> {
        let (dir, on_panic) = (options.dir.clone(), Arc::clone(&options.on_panic));
        let (journal, worker, report) = Journal::open_without_thread(options, from, replay, on_durable)?;
        let heartbeat = journal.heartbeat().clone();
        let run = move || {
            // A panic drops the worker, which closes the journal: its state may be inconsistent.
            if catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {
                heartbeat.end_by_panic();
                on_panic();
            }
        };
        let thread = thread::Builder::new()
            .name("journal".into())
            .spawn(run)
            .map_err(OpenError::io("start the writer of", &dir))?;
        *journal.thread.lock() = Some(thread);
        Ok(Opened { journal, report })
    }

    /// Like `open`, but the caller drives the worker, which makes tests deterministic.
    pub(crate) fn open_without_thread<S: FnMut(T, Result<Position, AppendError>)>(
        options: Options,
        from: Position,
        mut replay: impl FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>>,
        on_durable: S,
    ) -> Result<Unstarted<T, S>, OpenError> {
        options.check()?;
        let Options { dir, disk, .. } = &options;
        disk.create_dir_all(dir).map_err(OpenError::io("make", dir))?;
        let lock_path = dir.join("lock");
        let lock = disk.lock(&lock_path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => OpenError::Locked(dir.clone()),
            _ => OpenError::io("lock", &lock_path)(error),
        })?;
        let replayed = replay::replay(&options, from, &mut replay)?;
        let segments = Segments::new(dir.clone(), Arc::clone(disk), replayed.segments, replayed.durable);
        if let Err(error) = segments.trim(from, options.spare_bytes_min()) {
            warn!(error = %error, "journal {}: cannot remove old segments: {error}", dir.display());
        }
        let segments = Arc::new(segments);
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                group: Vec::new(),
                values: Vec::new(),
                writing_bytes: 0,
                rotate: false,
                probe: false,
                closed: false,
            }),
            arrived: Condvar::new(),
            segments: Arc::clone(&segments),
            commits: Histogram::default(),
            bytes_max: options.bytes_max,
            spare_bytes_min: options.spare_bytes_min(),
            record_bytes_max: options.record_bytes_max,
            queue_bytes_max: options.queue_bytes_max,
            heartbeat: Heartbeat::new("journal"),
            is_writable: AtomicBool::new(true),
            _lock: lock,
        });
        let worker = Worker {
            shared: Arc::clone(&shared),
            writer: Writer::new(options, segments, replayed.next, replayed.torn_from),
            on_durable,
            group: Vec::new(),
            values: Vec::new(),
        };
        Ok((Journal { shared, thread: Mutex::new(None) }, worker, replayed.report))
    }
}

impl<T> Journal<T> {
    /// Queues one record, the concatenation of `parts`. `Ok` means that `on_durable` will be called with `value`; an
    /// error returns `value`. Copies the bytes once and does not wait for the disk.
    pub fn append(&self, parts: &[&[u8]], value: T) -> Result<(), (AppendError, T)> {
        let shared = &*self.shared;
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if bytes > shared.record_bytes_max {
            return Err((AppendError::TooLarge { bytes, bytes_max: shared.record_bytes_max }, value));
        }
        let crc = parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part));
        let header = RecordHeader::unplaced(bytes as u32, crc);

        let mut queue = shared.queue.lock();
        if queue.closed {
            return Err((AppendError::Closed, value));
        }
        let record_bytes = header.len() + bytes;
        let queue_full = !queue.group.is_empty() && queue.group.len() + record_bytes > shared.queue_bytes_max;
        let pending_bytes = (queue.writing_bytes + queue.group.len() + record_bytes) as u64;
        if queue_full || shared.segments.bytes() + pending_bytes > shared.bytes_max {
            return Err((AppendError::Full, value));
        }
        queue.group.reserve(record_bytes);
        queue.group.extend_from_slice(&header);
        for part in parts {
            queue.group.extend_from_slice(part);
        }
        queue.values.push(value);
        drop(queue);
        shared.arrived.notify_one();
        Ok(())
    }

    /// Removes the segments that hold only records at or before `covered`, and returns their number.
    pub fn trim(&self, covered: Position) -> io::Result<usize> {
        self.shared.segments.trim(covered, self.shared.spare_bytes_min)
    }

    /// Pauses trimming while the guard lives, so that [`Journal::durable_segments`] can be copied.
    pub fn pause_trim(&self) -> TrimGuard {
        self.shared.segments.pause_trim()
    }

    /// The durable prefix of every segment, oldest first.
    pub fn durable_segments(&self) -> Vec<DurableSegment> {
        self.shared.segments.durable_segments()
    }

    /// Makes the writer thread start a new file, so that `trim` can remove every record before it. Files with earlier
    /// records are removed and not recycled. Returns before the rotation.
    pub fn rotate(&self) {
        self.shared.queue.lock().rotate = true;
        self.shared.arrived.notify_one();
    }

    /// Heartbeat of the writer thread.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.shared.heartbeat
    }

    /// Whether the last group or probe reached the disk. After a failure, each call makes the writer thread probe the
    /// disk, so the result becomes true again without an append.
    pub fn is_writable(&self) -> bool {
        let shared = &*self.shared;
        let is_writable = shared.is_writable.load(Ordering::Relaxed);
        let mut queue = shared.queue.lock();
        if !is_writable && !queue.closed {
            queue.probe = true;
            shared.arrived.notify_one();
        }
        is_writable && !queue.closed
    }

    /// Size of the segment files. Up to two spares are not included.
    pub fn bytes(&self) -> u64 {
        self.shared.segments.bytes()
    }

    /// Position up to which every record is durable. Updated before `on_durable` is called for these records.
    pub fn durable_position(&self) -> Position {
        self.shared.segments.durable()
    }

    /// Time to write and sync each group, failed groups included.
    pub fn commit_latencies(&self) -> Latencies {
        self.shared.commits.snapshot()
    }

    /// Records and bytes that are not durable yet.
    pub fn backlog(&self) -> Backlog {
        let queue = self.shared.queue.lock();
        Backlog { records: queue.values.len(), bytes: queue.group.len() + queue.writing_bytes }
    }

    /// Refuses further records, commits the queued ones and ends the writer thread. Idempotent.
    pub fn shutdown(&self) {
        self.shared.queue.lock().closed = true;
        self.shared.arrived.notify_one();
        let thread = self.thread.lock().take();
        // `on_durable` may drop the last handle: the writer thread cannot join itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            // A panic of `on_durable` was reported where it happened.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Journal<T> {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl<T, S: FnMut(T, Result<Position, AppendError>)> Worker<T, S> {
    fn run(mut self) {
        let heartbeat = self.shared.heartbeat.clone();
        while self.wait() {
            heartbeat.beat();
            self.step();
            heartbeat.idle();
        }
    }

    /// Waits for work. False when the journal is closed and the queue is empty.
    fn wait(&self) -> bool {
        let mut queue = self.shared.queue.lock();
        while queue.values.is_empty() && !queue.rotate && !queue.probe && !queue.closed {
            self.shared.arrived.wait(&mut queue);
        }
        !queue.values.is_empty() || ((queue.rotate || queue.probe) && !queue.closed)
    }

    /// Commits the queued records as one group and calls `on_durable` for each.
    pub(crate) fn step(&mut self) {
        let (rotate, probe) = {
            let mut queue = self.shared.queue.lock();
            std::mem::swap(&mut queue.group, &mut self.group);
            std::mem::swap(&mut queue.values, &mut self.values);
            queue.writing_bytes = self.group.len();
            (std::mem::take(&mut queue.rotate), std::mem::take(&mut queue.probe))
        };
        if rotate {
            self.writer.rotate();
        }
        if self.group.is_empty() {
            if probe {
                self.shared.is_writable.store(self.writer.probe(), Ordering::Relaxed);
            }
            return;
        }
        let start = Instant::now();
        let outcome = self.writer.commit(&mut self.group);
        self.shared.commits.record(start.elapsed());
        self.shared.is_writable.store(outcome.is_ok(), Ordering::Relaxed);
        self.shared.queue.lock().writing_bytes = 0;

        let mut at = 0;
        for value in self.values.drain(..) {
            at += RECORD_HEADER_BYTES + RecordHeader::unplaced_len(&self.group[at..]);
            let position = outcome.clone().map(|start| Position(start.0 + at as u64));
            (self.on_durable)(value, position);
        }
        self.group.clear();
        self.group.shrink_to(self.shared.queue_bytes_max);
    }
}

impl<T, S> Drop for Worker<T, S> {
    /// Closes the journal, also after a panic of `on_durable`: no thread is left to write.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.closed = true;
        queue.group = Vec::new();
        queue.values = Vec::new();
    }
}
