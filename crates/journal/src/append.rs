//! `Journal`: the bounded queue in front of the one writer thread, and what a caller may ask of it.
//!
//! Callers copy their record once, into the buffer that the writer takes as its next group, so everything that
//! arrives during one sync shares the next. Two buffers change places; nothing is allocated per record.

use crate::disk::DiskLock;
use crate::heartbeat::Heartbeat;
use crate::replay::{self, ReplayReport};
use crate::segment::{RECORD_HEADER_BYTES, RecordHeader};
use crate::segments::{DurableSegment, Hold, Segments};
use crate::times::{Counting, Times};
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

/// An open journal whose records each carry a payload of type `T` through the writer thread, back to `settled`.
///
/// Dropping it writes what waits and joins the thread, like `shutdown`.
pub struct Journal<T> {
    shared: Arc<Shared<T>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

pub struct Opened<T> {
    pub journal: Journal<T>,
    pub report: ReplayReport,
}

/// What the writer has not settled yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// For the next group.
    pub records: usize,
    /// Of them, and of the group being written.
    pub bytes: usize,
}

struct Shared<T> {
    queue: Mutex<Queue<T>>,
    arrived: Condvar,
    segments: Arc<Segments>,
    commits: Counting,
    bytes_max: u64,
    spare_bytes: u64,
    record_bytes_max: usize,
    queue_bytes_max: usize,
    heartbeat: Heartbeat,
    /// The last group, or the last probe, reached the disk.
    is_writable: AtomicBool,
    /// Released when both the journal and its thread are gone.
    _lock: DiskLock,
}

struct Queue<T> {
    /// Records with unplaced headers, one after the other.
    group: Vec<u8>,
    /// One for each record in `group`.
    payloads: Vec<T>,
    /// Bytes of the group that the writer is busy with.
    writing_bytes: usize,
    /// Asked for by `renew`.
    renew: bool,
    /// Asked for by `probe`.
    probe: bool,
    closed: bool,
}

/// A journal whose thread is not started, the thread's work, and what was replayed.
type Unstarted<T, S> = (Journal<T>, Worker<T, S>, ReplayReport);

/// The writer thread's side.
pub(crate) struct Worker<T, S> {
    shared: Arc<Shared<T>>,
    writer: Writer,
    settled: S,
    group: Vec<u8>,
    payloads: Vec<T>,
}

impl<T: Send + 'static> Journal<T> {
    /// Replays every record after `from`, in order, and starts the writer thread.
    ///
    /// - `from` is `Position(0)` or a position the journal gave out; what lies before it is removed.
    /// - `replay` gets each record's position and payload; its error ends the opening.
    /// - `settled` runs on the writer thread, in order, once for each appended record: with the record's position
    ///   once it is durable, or with the reason why it is not in the journal. It must not block for long.
    pub fn open(
        options: Options,
        from: Position,
        replay: impl FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>>,
        settled: impl FnMut(T, Result<Position, AppendError>) + Send + 'static,
    ) -> Result<Opened<T>, OpenError> {
        let (dir, on_panic) = (options.dir.clone(), Arc::clone(&options.on_panic));
        let (journal, worker, report) = Journal::open_without_thread(options, from, replay, settled)?;
        let heartbeat = journal.heartbeat().clone();
        let run = move || {
            // The worker goes with the panic, which closes the journal: nobody knows how far its state was changed.
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

    /// As `open`; the caller drives the worker, which makes tests repeatable.
    pub(crate) fn open_without_thread<S: FnMut(T, Result<Position, AppendError>)>(
        options: Options,
        from: Position,
        mut replay: impl FnMut(Position, &[u8]) -> Result<(), Box<dyn Error + Send + Sync>>,
        settled: S,
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
        if let Err(error) = segments.trim(from, options.spare_bytes()) {
            warn!(error = %error, "journal {}: cannot remove old segments: {error}", dir.display());
        }
        let segments = Arc::new(segments);
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                group: Vec::new(),
                payloads: Vec::new(),
                writing_bytes: 0,
                renew: false,
                probe: false,
                closed: false,
            }),
            arrived: Condvar::new(),
            segments: Arc::clone(&segments),
            commits: Counting::default(),
            bytes_max: options.bytes_max,
            spare_bytes: options.spare_bytes(),
            record_bytes_max: options.record_bytes_max,
            queue_bytes_max: options.queue_bytes_max,
            heartbeat: Heartbeat::new("journal"),
            is_writable: AtomicBool::new(true),
            _lock: lock,
        });
        let worker = Worker {
            shared: Arc::clone(&shared),
            writer: Writer::new(options, segments, replayed.next, replayed.torn_from),
            settled,
            group: Vec::new(),
            payloads: Vec::new(),
        };
        Ok((Journal { shared, thread: Mutex::new(None) }, worker, replayed.report))
    }
}

impl<T> Journal<T> {
    /// Hands one record, the concatenation of `parts`, to the writer. `Ok` means that `settled` will hear of it;
    /// otherwise the payload comes back at once. Copies the bytes once and never waits for the disk.
    pub fn append(&self, parts: &[&[u8]], payload: T) -> Result<(), (AppendError, T)> {
        let shared = &*self.shared;
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if bytes > shared.record_bytes_max {
            return Err((AppendError::TooLarge { bytes, bytes_max: shared.record_bytes_max }, payload));
        }
        let crc = parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part));
        let header = RecordHeader::unplaced(bytes as u32, crc);

        let mut queue = shared.queue.lock();
        if queue.closed {
            return Err((AppendError::Closed, payload));
        }
        let record_bytes = header.len() + bytes;
        let queue_full = !queue.group.is_empty() && queue.group.len() + record_bytes > shared.queue_bytes_max;
        let coming = (queue.writing_bytes + queue.group.len() + record_bytes) as u64;
        if queue_full || shared.segments.bytes() + coming > shared.bytes_max {
            return Err((AppendError::Full, payload));
        }
        queue.group.reserve(record_bytes);
        queue.group.extend_from_slice(&header);
        for part in parts {
            queue.group.extend_from_slice(part);
        }
        queue.payloads.push(payload);
        drop(queue);
        shared.arrived.notify_one();
        Ok(())
    }

    /// Removes the segments whose records all lie at or before `covered`; returns how many.
    pub fn trim(&self, covered: Position) -> io::Result<usize> {
        self.shared.segments.trim(covered, self.shared.spare_bytes)
    }

    /// While the hold lives nothing is trimmed, so that [`Journal::durable_segments`] can be copied.
    pub fn hold(&self) -> Hold {
        self.shared.segments.hold()
    }

    /// Every segment, oldest first, up to where it is durable now: all that was settled so far.
    pub fn durable_segments(&self) -> Vec<DurableSegment> {
        self.shared.segments.durable_segments()
    }

    /// Has what comes from now on lie in files of its own, so that `trim` can remove everything before it. Files that held
    /// any of that are removed, not used again. The writer thread does it, soon.
    pub fn renew(&self) {
        self.shared.queue.lock().renew = true;
        self.shared.arrived.notify_one();
    }

    /// Of the writer thread.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.shared.heartbeat
    }

    /// Whether records can be written, as far as is known: the last group reached the disk. After a group that did not,
    /// each call has the writer thread try the disk again, so that the answer becomes true without an append.
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

    /// Size of the segments on disk; files that wait to be used again, at most two segments, come on top.
    pub fn bytes(&self) -> u64 {
        self.shared.segments.bytes()
    }

    /// Every record up to here is durable. Set before the first of them is settled.
    pub fn durable_position(&self) -> Position {
        self.shared.segments.durable()
    }

    /// How long each group took to be written and synced, failures included.
    pub fn commits(&self) -> Times {
        self.shared.commits.times()
    }

    pub fn waiting(&self) -> Waiting {
        let queue = self.shared.queue.lock();
        Waiting { records: queue.payloads.len(), bytes: queue.group.len() + queue.writing_bytes }
    }

    /// Refuses further records, writes and settles those that wait, and ends the writer thread. Idempotent.
    pub fn shutdown(&self) {
        self.shared.queue.lock().closed = true;
        self.shared.arrived.notify_one();
        let thread = self.thread.lock().take();
        // `settled` may hold the last handle: the writer cannot wait for itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            // A panic of `settled` was reported where it happened.
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
            heartbeat.rest();
        }
    }

    /// Until something waits; false when the journal is closed and nothing does.
    fn wait(&self) -> bool {
        let mut queue = self.shared.queue.lock();
        while queue.payloads.is_empty() && !queue.renew && !queue.probe && !queue.closed {
            self.shared.arrived.wait(&mut queue);
        }
        !queue.payloads.is_empty() || ((queue.renew || queue.probe) && !queue.closed)
    }

    /// Writes everything that waits as one group and settles it.
    pub(crate) fn step(&mut self) {
        let (renew, probe) = {
            let mut queue = self.shared.queue.lock();
            std::mem::swap(&mut queue.group, &mut self.group);
            std::mem::swap(&mut queue.payloads, &mut self.payloads);
            queue.writing_bytes = self.group.len();
            (std::mem::take(&mut queue.renew), std::mem::take(&mut queue.probe))
        };
        if renew {
            self.writer.renew();
        }
        if self.group.is_empty() {
            if probe {
                self.shared.is_writable.store(self.writer.probe(), Ordering::Relaxed);
            }
            return;
        }
        let start = Instant::now();
        let outcome = self.writer.commit(&mut self.group);
        self.shared.commits.add(start.elapsed());
        self.shared.is_writable.store(outcome.is_ok(), Ordering::Relaxed);
        self.shared.queue.lock().writing_bytes = 0;

        let mut at = 0;
        for payload in self.payloads.drain(..) {
            at += RECORD_HEADER_BYTES + RecordHeader::unplaced_len(&self.group[at..]);
            let position = outcome.clone().map(|start| Position(start.0 + at as u64));
            (self.settled)(payload, position);
        }
        self.group.clear();
        self.group.shrink_to(self.shared.queue_bytes_max);
    }
}

impl<T, S> Drop for Worker<T, S> {
    /// Also when `settled` panicked: nobody will write, so nobody may believe so.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.closed = true;
        queue.group = Vec::new();
        queue.payloads = Vec::new();
    }
}
