//! Long work lets others go first, often. See decision 0009.
//!
//! The kernel lets a thread that runs finish its slice, some milliseconds, whatever priority the one that just woke up
//! has; and an export is handed from thread to thread five times before it is acknowledged. Questions, flushes and
//! merges therefore offer their processor several times a millisecond.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_micros(300);

thread_local! {
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Called between pieces of work of a fraction of a millisecond. Some tens of nanoseconds as long as nothing is due, a
/// system call when nobody waits.
pub fn give_way() {
    let now = Instant::now();
    match SINCE.get() {
        Some(since) if now.duration_since(since) < EVERY => {}
        Some(_) => {
            thread::yield_now();
            SINCE.set(Some(Instant::now()));
        }
        None => SINCE.set(Some(now)),
    }
}
