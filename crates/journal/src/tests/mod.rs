//! Tests of the public API on the simulated disk, step by step, so that runs are deterministic.

mod damage;
mod limits;
mod model;
mod threads;

use crate::disk::sim::SimDisk;
use crate::{Journal, OpenError, Options, Position, ReplayReport};
use parking_lot::Mutex;
use std::sync::Arc;

pub(crate) type Outcomes = Arc<Mutex<Vec<(u64, Result<Position, crate::AppendError>)>>>;
pub(crate) type Record = (Position, Vec<u8>);

/// A journal on a simulated disk whose writer runs one `step` at a time.
pub(crate) struct Bench {
    pub journal: Journal<u64>,
    pub step: Box<dyn FnMut()>,
    /// Calls of `on_durable`.
    pub outcomes: Outcomes,
    pub replayed: Vec<Record>,
    pub report: ReplayReport,
}

impl Bench {
    pub fn open(disk: &SimDisk, from: Position) -> Result<Bench, OpenError> {
        Bench::open_with(small(disk), from)
    }

    pub fn open_with(options: Options, from: Position) -> Result<Bench, OpenError> {
        let outcomes = Outcomes::default();
        let mut replayed = Vec::new();
        let replay = |position, payload: &[u8]| {
            replayed.push((position, payload.to_vec()));
            Ok(())
        };
        let recorded = Arc::clone(&outcomes);
        let (journal, mut worker, report) = Journal::open_without_thread(options, from, replay, move |id, outcome| {
            recorded.lock().push((id, outcome))
        })?;
        Ok(Bench { journal, step: Box::new(move || worker.step()), outcomes, replayed, report })
    }

    /// Appends one record in a group of its own.
    pub fn commit(&mut self, payload: &[u8]) -> Result<Position, crate::AppendError> {
        self.journal.append(&[payload], 0).map_err(|(error, _)| error)?;
        (self.step)();
        self.outcomes.lock().pop().expect("a step completes the record").1
    }
}

/// Segments of 16 KiB, so that tests write many.
pub(crate) fn small(disk: &SimDisk) -> Options {
    Options {
        segment_bytes: 16 << 10,
        bytes_max: 8 << 20,
        record_bytes_max: 64 << 10,
        queue_bytes_max: 32 << 10,
        disk: Arc::new(disk.clone()),
        ..Options::new("/journal")
    }
}
