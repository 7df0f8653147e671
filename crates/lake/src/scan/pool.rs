//! Query threads: a few scoped threads per query, which share a list of work items.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;

use crate::schedule::yielding::yield_point;
use tidewatch_store::StoreError;

/// Threads per query. More gain little, and other queries need threads too.
const THREADS_MAX: usize = 8;
/// Items of I/O-bound work per thread.
const ITEMS_PER_WAIT: usize = 4;

/// Runs `work` once per item. Every thread makes its own state; all states are returned, in no order.
///
/// Threads take items from the front of the list. The first error stops all threads.
pub(crate) fn for_each_parallel<T: Sync, S: Send>(
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    run_on_threads(cores(), items, make, work)
}

/// Like [`for_each_parallel`], for work that mostly waits for the disk when its data is not cached: uses more threads
/// than cores when there are many items.
pub(crate) fn for_each_parallel_io<T: Sync, S: Send>(
    items: &[T],
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    run_on_threads(cores().max(items.len() / ITEMS_PER_WAIT), items, make, work)
}

/// The number of threads of one query with enough work.
pub(crate) fn threads() -> usize {
    cores().min(THREADS_MAX)
}

fn cores() -> usize {
    // Linux answers from files of the control group: a query with many scans would read them for each.
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    *CORES
}

fn run_on_threads<T: Sync, S: Send>(
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

/// Called between pieces of work. Also yields to threads with priority.
pub(crate) fn check_deadline(deadline: Instant) -> Result<(), StoreError> {
    yield_point();
    if Instant::now() >= deadline { Err(StoreError::Deadline) } else { Ok(()) }
}
