//! Long work yields the processor often. See decision 0009.
//!
//! The kernel lets a running thread finish its time slice of some milliseconds, whatever the priority of a thread that
//! just woke up, and an export passes through five threads before it is acknowledged. Queries, flushes and merges
//! therefore yield several times per millisecond.
//!
//! [`yield_point`] also updates the thread's heartbeat.
//!
//! A flush also pauses while its [`BackgroundThrottle`] allows it.
//!
//! Invariant: an acknowledgement never waits for a full slice of the scheduler.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tidewatch_journal::heartbeat;

use super::background_throttle::{BackgroundThrottle, PAUSE_FACTOR};

const YIELD_INTERVAL: Duration = Duration::from_micros(300);
/// Waking up has a cost and may take as long.
const PAUSE_MIN: Duration = Duration::from_millis(1);
/// A pausing flush checks again after this time.
const PAUSE_MAX: Duration = Duration::from_millis(5);

thread_local! {
    static LAST_YIELD: Cell<Option<Instant>> = const { Cell::new(None) };
    static THROTTLE: OnceCell<Arc<BackgroundThrottle>> = const { OnceCell::new() };
}

/// Sets the throttle of this thread, which flushes.
pub fn set_throttle(throttle: &Arc<BackgroundThrottle>) {
    THROTTLE.with(|own| drop(own.set(Arc::clone(throttle))));
}

/// Called between pieces of work of a fraction of a millisecond. Costs some tens of nanoseconds while no yield
/// is due, and otherwise a system call, if no other thread is waiting.
pub fn yield_point() {
    let now = Instant::now();
    let worked = match LAST_YIELD.get() {
        Some(since) => now.duration_since(since),
        None => return LAST_YIELD.set(Some(now)),
    };
    if worked < YIELD_INTERVAL {
        return;
    }
    heartbeat::beat(now);
    match THROTTLE.with(|throttle| throttle.get().is_some_and(|throttle| throttle.may_pause_flush())) {
        true => pause((worked * PAUSE_FACTOR).clamp(PAUSE_MIN, PAUSE_MAX)),
        false => thread::yield_now(),
    }
    LAST_YIELD.set(Some(Instant::now()));
}

#[expect(clippy::disallowed_methods, reason = "it waits for no event: other threads run meanwhile")]
fn pause(time: Duration) {
    thread::sleep(time);
}
