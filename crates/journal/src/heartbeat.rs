//! Heartbeats of background threads.
//!
//! A thread beats before each piece of work and reports when it is idle. It counts as missing when it has panicked, or
//! when it is busy and has not beaten for longer than a limit. Loops of long work call [`beat`], which updates the
//! heartbeat of the current thread.

use std::cell::OnceCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One thread's heartbeat. Clones share it.
#[derive(Clone)]
pub struct Heartbeat {
    name: &'static str,
    /// Time of the last beat in milliseconds since [`start`], or one of the constants below.
    state: Arc<AtomicU64>,
}

/// The thread waits for work.
const IDLE: u64 = u64::MAX;
/// The thread has panicked.
const DEAD: u64 = u64::MAX - 1;

/// A missing thread, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Name of the heartbeat.
    pub thread: &'static str,
    /// Time since the last beat; `None` after a panic.
    pub silent_for: Option<Duration>,
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.silent_for {
            Some(silence) => write!(out, "thread {} has not beaten for {} s", self.thread, silence.as_secs()),
            None => write!(out, "thread {} has ended by a panic", self.thread),
        }
    }
}

thread_local! {
    static OWN: OnceCell<Heartbeat> = const { OnceCell::new() };
}

/// The epoch of all heartbeats.
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

impl Heartbeat {
    /// The heartbeat of a thread that has not started yet: idle.
    pub fn new(name: &'static str) -> Heartbeat {
        start();
        Heartbeat { name, state: Arc::new(AtomicU64::new(IDLE)) }
    }

    /// Name of the thread, as `/livez` shows it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Makes this the heartbeat that [`beat`] updates on the current thread.
    pub fn register_current_thread(&self) {
        OWN.with(|own| drop(own.set(self.clone())));
    }

    /// Reports progress: a piece of work begins or continues.
    pub fn beat(&self) {
        self.beat_at(Instant::now());
    }

    fn beat_at(&self, now: Instant) {
        let since = now.saturating_duration_since(start()).as_millis();
        self.state.store(u64::try_from(since).unwrap_or(DEAD - 1), Ordering::Relaxed);
    }

    /// Reports that the thread waits for work or has ended normally.
    pub fn idle(&self) {
        self.state.store(IDLE, Ordering::Relaxed);
    }

    /// Reports that the thread has panicked.
    pub fn end_by_panic(&self) {
        self.state.store(DEAD, Ordering::Relaxed);
    }

    /// Reason for which the thread counts as missing at `now`, if it does. A busy thread may be silent for
    /// `silence_max`.
    pub fn missing(&self, now: Instant, silence_max: Duration) -> Option<Missing> {
        let silent_for = match self.state.load(Ordering::Relaxed) {
            IDLE => return None,
            DEAD => None,
            beaten => {
                let silence = now.saturating_duration_since(start() + Duration::from_millis(beaten));
                if silence <= silence_max {
                    return None;
                }
                Some(silence)
            }
        };
        Some(Missing { thread: self.name, silent_for })
    }
}

/// Beats for the current thread, if it has registered a heartbeat.
pub fn beat(now: Instant) {
    OWN.with(|own| own.get().into_iter().for_each(|heartbeat| heartbeat.beat_at(now)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_that_does_not_beat_is_missing() {
        let heartbeat = Heartbeat::new("lake-flush");
        let (now, limit) = (Instant::now(), Duration::from_secs(60));
        let later = now + 2 * limit;
        assert_eq!(heartbeat.missing(later, limit), None, "a new thread is idle");
        heartbeat.beat_at(now);
        assert_eq!(heartbeat.missing(now + limit / 2, limit), None);
        let missing = heartbeat.missing(later, limit).expect("it is silent");
        assert_eq!(missing.to_string(), "thread lake-flush has not beaten for 120 s");
        heartbeat.register_current_thread();
        beat(later);
        assert_eq!(heartbeat.missing(later, limit), None, "long work beats");
        heartbeat.idle();
        assert_eq!(heartbeat.missing(later + 9 * limit, limit), None, "it is idle");
        heartbeat.end_by_panic();
        let missing = heartbeat.missing(now, limit).expect("it is dead");
        assert_eq!(missing.to_string(), "thread lake-flush has ended by a panic");
    }
}
