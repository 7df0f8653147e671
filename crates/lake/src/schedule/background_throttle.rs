//! Pauses flushes and merges while queries run. See decision 0009.
//!
//! A client waits for a query, and rarely for a flush or a merge. While queries run, a merge pauses most of the time,
//! and a flush pauses while it is ahead of the incoming rows: continuous slow work delays queries less than occasional
//! bursts.
//!
//! A flush takes at most the time in which the next memtable fills. Merges pause until four are pending.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The pause of long work while queries run, in multiples of its working time.
pub const PAUSE_FACTOR: u32 = 9;
const WHOLE: u32 = 1 << 16;

/// The progress of the flush and the load that determines its pauses. Shares are fractions of [`WHOLE`].
#[derive(Debug, Default)]
pub struct BackgroundThrottle {
    queries: AtomicUsize,
    /// Share of the flush that is done.
    flushed: AtomicU32,
    /// Share of the memory available until the flush ends that is used.
    filled: AtomicU32,
}

/// A running query, until this is dropped.
pub struct ActiveQuery<'a>(&'a BackgroundThrottle);

/// A running flush of `work` units of work.
pub struct Flushing<'a> {
    throttle: &'a BackgroundThrottle,
    done: usize,
    work: usize,
}

impl BackgroundThrottle {
    pub fn query_started(&self) -> ActiveQuery<'_> {
        self.queries.fetch_add(1, Relaxed);
        ActiveQuery(self)
    }

    pub fn has_queries(&self) -> bool {
        self.queries.load(Relaxed) > 0
    }

    pub fn flush(&self, work: usize) -> Flushing<'_> {
        self.flushed.store(0, Relaxed);
        Flushing { throttle: self, done: 0, work }
    }

    pub fn set_filled(&self, used: usize, of: usize) {
        self.filled.store(share(used, of), Relaxed);
    }

    /// Whether queries run and the flush's progress is at least 1.5 times the fill level; incoming rows are not evenly
    /// spread.
    pub fn may_pause_flush(&self) -> bool {
        let filled = self.filled.load(Relaxed);
        self.has_queries() && self.flushed.load(Relaxed) >= filled + filled / 2
    }
}

impl Flushing<'_> {
    pub fn add(&mut self, done: usize) {
        self.done += done;
        self.throttle.flushed.store(share(self.done, self.work), Relaxed);
    }
}

impl Drop for ActiveQuery<'_> {
    fn drop(&mut self) {
        self.0.queries.fetch_sub(1, Relaxed);
    }
}

fn share(part: usize, of: usize) -> u32 {
    if part >= of { WHOLE } else { (part as u64 * u64::from(WHOLE) / of as u64) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_pauses_during_queries_while_it_is_ahead_of_incoming_rows() {
        let throttle = BackgroundThrottle::default();
        let mut flush = throttle.flush(100);
        flush.add(40);
        let table =
            [((0, 10), true), ((2, 10), true), ((3, 10), false), ((10, 10), false), ((11, 10), false), ((5, 0), false)];
        for ((used, of), may_pause) in table {
            throttle.set_filled(used, of);
            assert!(!throttle.may_pause_flush(), "no query runs");
            let (first, second) = (throttle.query_started(), throttle.query_started());
            assert_eq!(throttle.may_pause_flush(), may_pause, "{used} of {of}");
            drop(first);
            assert_eq!(throttle.may_pause_flush(), may_pause, "{used} of {of}, one query left");
            drop(second);
            assert!(!throttle.has_queries());
        }
        throttle.set_filled(3, 10);
        let _active = throttle.query_started();
        flush.add(10);
        assert!(throttle.may_pause_flush());
        throttle.flush(100);
        assert!(!throttle.may_pause_flush(), "the next one begins");
    }

    #[test]
    fn an_empty_flush_is_complete() {
        let throttle = BackgroundThrottle::default();
        let _active = throttle.query_started();
        throttle.flush(0).add(0);
        throttle.set_filled(1, 2);
        assert!(throttle.may_pause_flush());
    }
}
