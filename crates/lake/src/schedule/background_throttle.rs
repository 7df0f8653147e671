//! How urgent flushes and merges are while questions are being answered. See decision 0009.
//!
//! Somebody waits for a question, and hardly anybody for a flush or a merge. While questions run a merge rests most of
//! the time, and a flush for as long as it is ahead of what comes in: a little all the time disturbs questions less than
//! much now and then.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// Beside questions, how many times as long as it worked long work rests.
pub const RESTS: u32 = 9;
const WHOLE: u32 = 1 << 16;

/// Shares are of [`WHOLE`].
#[derive(Debug, Default)]
pub struct Pace {
    questions: AtomicUsize,
    /// Done of the flush.
    flushed: AtomicU32,
    /// Used of the room that is left for rows until it is done.
    filled: AtomicU32,
}

/// A question is being answered until this is dropped.
pub struct Asking<'a>(&'a Pace);

/// A flush, of so much work.
pub struct Flushing<'a> {
    pace: &'a Pace,
    done: usize,
    work: usize,
}

impl Pace {
    pub fn ask(&self) -> Asking<'_> {
        self.questions.fetch_add(1, Relaxed);
        Asking(self)
    }

    pub fn is_asked(&self) -> bool {
        self.questions.load(Relaxed) > 0
    }

    pub fn flush(&self, work: usize) -> Flushing<'_> {
        self.flushed.store(0, Relaxed);
        Flushing { pace: self, done: 0, work }
    }

    pub fn set_filled(&self, used: usize, of: usize) {
        self.filled.store(share(used, of), Relaxed);
    }

    /// Questions run, and the flush is ahead by half as much again as was filled: what comes in does not come evenly.
    pub fn may_flush_rest(&self) -> bool {
        let filled = self.filled.load(Relaxed);
        self.is_asked() && self.flushed.load(Relaxed) >= filled + filled / 2
    }
}

impl Flushing<'_> {
    pub fn add(&mut self, done: usize) {
        self.done += done;
        self.pace.flushed.store(share(self.done, self.work), Relaxed);
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Relaxed);
    }
}

fn share(part: usize, of: usize) -> u32 {
    if part >= of { WHOLE } else { (part as u64 * u64::from(WHOLE) / of as u64) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_rests_beside_questions_while_it_is_ahead_of_what_comes_in() {
        let pace = Pace::default();
        let mut flush = pace.flush(100);
        flush.add(40);
        let table =
            [((0, 10), true), ((2, 10), true), ((3, 10), false), ((10, 10), false), ((11, 10), false), ((5, 0), false)];
        for ((used, of), may_rest) in table {
            pace.set_filled(used, of);
            assert!(!pace.may_flush_rest(), "nobody asks");
            let (first, second) = (pace.ask(), pace.ask());
            assert_eq!(pace.may_flush_rest(), may_rest, "{used} of {of}");
            drop(first);
            assert_eq!(pace.may_flush_rest(), may_rest, "{used} of {of}, one question left");
            drop(second);
            assert!(!pace.is_asked());
        }
        pace.set_filled(3, 10);
        let _asking = pace.ask();
        flush.add(10);
        assert!(pace.may_flush_rest());
        pace.flush(100);
        assert!(!pace.may_flush_rest(), "the next one begins");
    }

    #[test]
    fn a_flush_of_nothing_is_done() {
        let pace = Pace::default();
        let _asking = pace.ask();
        pace.flush(0).add(0);
        pace.set_filled(1, 2);
        assert!(pace.may_flush_rest());
    }
}
