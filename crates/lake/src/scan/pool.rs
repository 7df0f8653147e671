//! Query threads: a few, for the time of one question, sharing a list of work.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;

use crate::schedule::yielding::yield_point;
use tidewatch_store::StoreError;

/// More threads than this gain little on one question, and other questions want some too.
const THREADS_MAX: usize = 8;
/// Pieces of waiting work that are worth a thread.
const ITEMS_PER_WAIT: usize = 4;

/// Runs `work` once per item; every thread makes a state of its own, and all states come back, in no order.
///
/// Threads take items from the front of the list. The first error stops them all.
pub(crate) fn share<T: Sync, S: Send>(
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    share_among(cores(), items, make, work)
}

/// As [`share`], of work that mostly waits for the disk when it is done for the first time: more threads than cores when
/// there is much of it.
pub(crate) fn share_waits<T: Sync, S: Send>(
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    share_among(cores().max(items.len() / ITEMS_PER_WAIT), items, make, work)
}

/// How many threads one question has, when there is work for them.
pub(crate) fn threads() -> usize {
    cores().min(THREADS_MAX)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn share_among<T: Sync, S: Send>(
    threads: usize,
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    let threads = threads.min(THREADS_MAX).min(items.len());
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let run = || {
        let mut state = make();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(&mut state, item) {
                next.store(items.len(), Ordering::Relaxed);
                failure.lock().get_or_insert(error);
                break;
            }
        }
        state
    };
    let states = if threads <= 1 {
        vec![run()]
    } else {
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            let mut states = vec![run()];
            for other in others {
                states.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            states
        })
    };
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok(states),
    }
}

/// Between pieces of work: also lets others go first.
pub(crate) fn check_deadline(deadline: Instant) -> Result<(), StoreError> {
    yield_point();
    if Instant::now() >= deadline { Err(StoreError::Deadline) } else { Ok(()) }
}
