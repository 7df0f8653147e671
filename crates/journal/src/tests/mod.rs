//! The promises of the crate, through its public door: on the simulated disk, step by step, so that runs repeat.

mod damage;
mod limits;
mod model;
mod threads;

use crate::disk::sim::SimDisk;
use crate::{Journal, OpenError, Options, Position, ReplayReport};
use parking_lot::Mutex;
use std::sync::Arc;

pub(crate) type Settled = Arc<Mutex<Vec<(u64, Result<Position, crate::AppendError>)>>>;
pub(crate) type Record = (Position, Vec<u8>);

/// A journal on a simulated disk whose writer runs when told to.
pub(crate) struct Bench {
    pub journal: Journal<u64>,
    pub step: Box<dyn FnMut()>,
    pub settled: Settled,
    pub replayed: Vec<Record>,
    pub report: ReplayReport,
}

impl Bench {
    pub fn open(disk: &SimDisk, from: Position) -> Result<Bench, OpenError> {
        Bench::open_with(small(disk), from)
    }

    pub fn open_with(options: Options, from: Position) -> Result<Bench, OpenError> {
        let settled = Settled::default();
        let mut replayed = Vec::new();
        let replay = |position, payload: &[u8]| {
            replayed.push((position, payload.to_vec()));
            Ok(())
        };
        let on_settled = Arc::clone(&settled);
        let (journal, mut worker, report) = Journal::open_without_thread(options, from, replay, move |id, outcome| {
            on_settled.lock().push((id, outcome))
        })?;
        Ok(Bench { journal, step: Box::new(move || worker.step()), settled, replayed, report })
    }

    /// Appends one record alone in its group; its position or why it was refused.
    pub fn commit(&mut self, payload: &[u8]) -> Result<Position, crate::AppendError> {
        self.journal.append(&[payload], 0).map_err(|(error, _)| error)?;
        (self.step)();
        self.settled.lock().pop().expect("a step settles").1
    }
}

/// Segments of 16 KiB, so that a test sees many.
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
