//! Long work lets others go first, often. See decision 0009.
//!
//! The kernel lets a thread that runs finish its slice, some milliseconds, whatever priority the one that just woke up
//! has; and an export is handed from thread to thread five times before it is acknowledged. Questions, flushes and
//! merges therefore offer their processor several times a millisecond.
//!
//! A thread with a heartbeat beats here.
//!
//! A flush also rests, as long as its [`Pace`] says that it may.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tidewatch_journal::heartbeat;

use super::background_throttle::{Pace, RESTS};

const EVERY: Duration = Duration::from_micros(300);
/// Waking up has its price, and may take as long.
const REST_MIN: Duration = Duration::from_millis(1);
/// A flush that rests looks again after this long.
const REST_MAX: Duration = Duration::from_millis(5);

thread_local! {
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    static PACE: OnceCell<Arc<Pace>> = const { OnceCell::new() };
}

/// From now on this thread, which flushes, keeps to this pace.
pub fn keep_pace(pace: &Arc<Pace>) {
    PACE.with(|own| drop(own.set(Arc::clone(pace))));
}

/// Called between pieces of work of a fraction of a millisecond. Some tens of nanoseconds as long as nothing is due, a
/// system call when nobody waits.
pub fn yield_point() {
    let now = Instant::now();
    let worked = match SINCE.get() {
        Some(since) => now.duration_since(since),
        None => return SINCE.set(Some(now)),
    };
    if worked < EVERY {
        return;
    }
    heartbeat::beat(now);
    match PACE.with(|pace| pace.get().is_some_and(|pace| pace.may_flush_rest())) {
        true => rest((worked * RESTS).clamp(REST_MIN, REST_MAX)),
        false => thread::yield_now(),
    }
    SINCE.set(Some(Instant::now()));
}

#[expect(clippy::disallowed_methods, reason = "it waits for nothing: others are to have the processor meanwhile")]
fn rest(time: Duration) {
    thread::sleep(time);
}
