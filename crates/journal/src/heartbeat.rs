//! Heartbeats of background threads: whether a thread is there and gets on with its work.
//!
//! A thread beats before each piece of work and says when it waits for some. Whoever watches calls a thread missing when
//! it has ended by a panic, or when it works and has not beaten for longer than a limit. Long work beats through
//! [`beat`], which finds the heartbeat of its own thread.

use std::cell::OnceCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// One thread's heartbeat. Clones share it.
#[derive(Clone)]
pub struct Heartbeat {
    name: &'static str,
    /// Milliseconds since [`start`] of the last beat, or one of the constants below.
    state: Arc<AtomicU64>,
}

/// Waits for work, as long as it takes.
const WAITING: u64 = u64::MAX;
/// Ended by a panic.
const DEAD: u64 = u64::MAX - 1;

/// Why a thread counts as missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub thread: &'static str,
    /// Since its last beat; `None`: the thread has ended by a panic.
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

/// What beats are counted from.
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

impl Heartbeat {
    /// Of a thread that has not started yet: it waits.
    pub fn new(name: &'static str) -> Heartbeat {
        start();
        Heartbeat { name, state: Arc::new(AtomicU64::new(WAITING)) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Makes it the heartbeat of this thread: [`beat`] finds it.
    pub fn is_of_this_thread(&self) {
        OWN.with(|own| drop(own.set(self.clone())));
    }

    /// A piece of work begins or goes on.
    pub fn beat(&self) {
        self.beat_at(Instant::now());
    }

    fn beat_at(&self, now: Instant) {
        let since = now.saturating_duration_since(start()).as_millis();
        self.state.store(u64::try_from(since).unwrap_or(DEAD - 1), Ordering::Relaxed);
    }

    /// There is nothing to do for now, or the thread ends in order.
    pub fn rest(&self) {
        self.state.store(WAITING, Ordering::Relaxed);
    }

    /// The thread ends by a panic.
    pub fn end_by_panic(&self) {
        self.state.store(DEAD, Ordering::Relaxed);
    }

    /// Whether the thread is missing at `now`, when a piece of work may take `silence_max`.
    pub fn missing(&self, now: Instant, silence_max: Duration) -> Option<Missing> {
        let silent_for = match self.state.load(Ordering::Relaxed) {
            WAITING => return None,
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

/// A beat of the thread that calls, when it has a heartbeat. For the loops of long work.
pub fn beat(now: Instant) {
    OWN.with(|own| own.get().into_iter().for_each(|heartbeat| heartbeat.beat_at(now)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_and_does_not_beat_is_missing() {
        let heartbeat = Heartbeat::new("lake-flush");
        let (now, limit) = (Instant::now(), Duration::from_secs(60));
        let later = now + 2 * limit;
        assert_eq!(heartbeat.missing(later, limit), None, "it was never asked for anything");
        heartbeat.beat_at(now);
        assert_eq!(heartbeat.missing(now + limit / 2, limit), None);
        let missing = heartbeat.missing(later, limit).expect("it is silent");
        assert_eq!(missing.to_string(), "thread lake-flush has not beaten for 120 s");
        heartbeat.is_of_this_thread();
        beat(later);
        assert_eq!(heartbeat.missing(later, limit), None, "long work beats");
        heartbeat.rest();
        assert_eq!(heartbeat.missing(later + 9 * limit, limit), None, "it waits");
        heartbeat.end_by_panic();
        let missing = heartbeat.missing(now, limit).expect("it is dead");
        assert_eq!(missing.to_string(), "thread lake-flush has ended by a panic");
    }
}
