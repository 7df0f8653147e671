//! How much memory questions may hold: each of them, and all together.
//!
//! A question borrows from [`QueryMemory`] while it grows and returns all of it when it ends. When the rest does not
//! suffice it waits, until its deadline. It never waits in a circle: what is lent always leaves enough for the oldest
//! question to grow to its maximum (the banker's algorithm), so the oldest ends, and the next one becomes the oldest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::StoreError;

/// Groups, samples, candidates, decode buffers and the answer of one question together.
pub const QUESTION_BYTES_MAX: usize = 512 << 20;

/// Bytes are borrowed in multiples of this, so that most steps of a question take no lock.
const STEP_BYTES: usize = 1 << 20;
/// A small budget is lent in this many steps at least.
const STEPS_MIN: usize = 64;

/// The memory of all questions.
#[derive(Debug)]
pub struct QueryMemory {
    bytes_max: usize,
    question_bytes_max: usize,
    ledger: Mutex<Ledger>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Ledger {
    /// Bytes borrowed by every running question; the oldest question has the smallest number.
    questions: BTreeMap<u64, usize>,
    next_question: u64,
    now: QueryMemoryUse,
}

/// Bytes borrowed now and at most, and the waits since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryMemoryUse {
    pub bytes: usize,
    pub peak_bytes: usize,
    /// Threads of questions that wait now.
    pub waiting: usize,
    /// Waits that have begun.
    pub waits: u64,
    /// Duration of the waits that have ended.
    pub waited: Duration,
}

impl QueryMemory {
    /// `bytes_max` for all questions. One question gets at most half of it, and at most [`QUESTION_BYTES_MAX`].
    pub fn new(bytes_max: usize) -> QueryMemory {
        QueryMemory::with(bytes_max, QUESTION_BYTES_MAX.min(bytes_max / 2))
    }

    /// `bytes_max` for one question that shares with no other.
    pub fn of_one_question(bytes_max: usize) -> QueryMemory {
        QueryMemory::with(bytes_max, bytes_max)
    }

    fn with(bytes_max: usize, question_bytes_max: usize) -> QueryMemory {
        QueryMemory { bytes_max, question_bytes_max, ledger: Mutex::default(), returned: Condvar::new() }
    }

    /// Bytes for all questions together.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    pub fn in_use(&self) -> QueryMemoryUse {
        self.ledger.lock().now
    }

    /// A question has borrowed `bytes` in all when this returns `Ok`; may wait.
    fn lend(&self, question: u64, bytes: usize, deadline: Instant) -> Result<(), StoreError> {
        let mut ledger = self.ledger.lock();
        if !self.lends(&mut ledger, question, bytes) {
            let began = Instant::now();
            ledger.now.waits += 1;
            ledger.now.waiting += 1;
            let mut is_late = false;
            while !self.lends(&mut ledger, question, bytes) {
                is_late = self.returned.wait_until(&mut ledger, deadline).timed_out();
                if is_late {
                    is_late = !self.lends(&mut ledger, question, bytes);
                    break;
                }
            }
            ledger.now.waiting -= 1;
            ledger.now.waited += began.elapsed();
            if is_late {
                return Err(StoreError::Deadline);
            }
        }
        Ok(())
    }

    /// Lends when what is left afterwards lets the oldest question grow to its maximum.
    fn lends(&self, ledger: &mut Ledger, question: u64, bytes: usize) -> bool {
        let own = ledger.questions.get(&question).copied().unwrap_or(0);
        let Some(more) = bytes.checked_sub(own).filter(|more| *more > 0) else { return true };
        let reserved = match ledger.questions.first_key_value() {
            Some((oldest, borrowed)) if *oldest != question => self.question_bytes_max.saturating_sub(*borrowed),
            _ => 0,
        };
        if ledger.now.bytes.saturating_add(more).saturating_add(reserved) > self.bytes_max {
            return false;
        }
        ledger.questions.insert(question, bytes);
        ledger.now.bytes += more;
        ledger.now.peak_bytes = ledger.now.peak_bytes.max(ledger.now.bytes);
        true
    }
}

/// The memory of one question, shared by its threads. Dropping it returns what was borrowed.
#[derive(Debug)]
pub(crate) struct Budget<'m> {
    memory: &'m QueryMemory,
    question: u64,
    deadline: Instant,
    /// By all threads; at most what is borrowed, but for a moment.
    used: AtomicUsize,
    borrowed: AtomicUsize,
}

/// What one thread has taken from the budget; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    budget: &'a Budget<'a>,
    bytes: usize,
}

impl Budget<'_> {
    pub fn new(memory: &QueryMemory, deadline: Instant) -> Budget<'_> {
        let mut ledger = memory.ledger.lock();
        let question = ledger.next_question;
        ledger.next_question += 1;
        ledger.questions.insert(question, 0);
        Budget { memory, question, deadline, used: AtomicUsize::new(0), borrowed: AtomicUsize::new(0) }
    }

    pub fn share(&self) -> Share<'_> {
        Share { budget: self, bytes: 0 }
    }

    fn borrow(&self, used: usize) -> Result<(), StoreError> {
        let bytes_max = self.memory.question_bytes_max;
        if used > bytes_max {
            let most = bytes_max >> 20;
            return Err(StoreError::Budget(format!("{most} MB; ask for a shorter time or fewer groups")));
        }
        if used <= self.borrowed.load(Ordering::Acquire) {
            return Ok(());
        }
        let step = STEP_BYTES.min(bytes_max / STEPS_MIN).max(1);
        let wanted = used.div_ceil(step).saturating_mul(step).min(bytes_max);
        self.memory.lend(self.question, wanted, self.deadline)?;
        self.borrowed.fetch_max(wanted, Ordering::Release);
        Ok(())
    }
}

impl Drop for Budget<'_> {
    fn drop(&mut self) {
        let mut ledger = self.memory.ledger.lock();
        ledger.now.bytes -= ledger.questions.remove(&self.question).unwrap_or(0);
        self.memory.returned.notify_all();
    }
}

impl Share<'_> {
    /// This thread now holds `bytes` in all. Waits while other questions hold what is missing.
    ///
    /// [`StoreError::Budget`] when one question may not hold so much, [`StoreError::Deadline`] when the wait was too long.
    pub fn holds(&mut self, bytes: usize) -> Result<(), StoreError> {
        let used = &self.budget.used;
        let before = std::mem::replace(&mut self.bytes, bytes);
        match bytes.checked_sub(before) {
            Some(0) => Ok(()),
            Some(more) => self.budget.borrow(used.fetch_add(more, Ordering::Relaxed).saturating_add(more)),
            None => {
                used.fetch_sub(before - bytes, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    const FAR: Duration = Duration::from_secs(600);

    fn soon() -> Instant {
        Instant::now() + FAR
    }

    #[test]
    fn a_question_waits_for_what_another_holds() {
        let memory = QueryMemory::new(4 << 20);
        let (oldest, second) = (Budget::new(&memory, soon()), Budget::new(&memory, soon()));
        oldest.share().holds(2 << 20).expect("half is for one question");
        let mut rest = second.share();
        rest.holds(2 << 20).expect("the oldest has all it may have");
        thread::scope(|scope| {
            let third = scope.spawn(|| Budget::new(&memory, soon()).share().holds(1 << 20));
            while memory.in_use().waiting == 0 {
                thread::yield_now();
            }
            drop(oldest);
            assert!(third.join().expect("no panic").is_ok(), "the oldest has ended");
        });
        assert_eq!((memory.in_use().waits, memory.in_use().peak_bytes), (1, 4 << 20));
    }

    #[test]
    fn waiting_ends_at_the_deadline_and_one_question_has_a_maximum() {
        let memory = QueryMemory::new(4 << 20);
        let oldest = Budget::new(&memory, soon());
        let mut held = oldest.share();
        held.holds(2 << 20).expect("half is for one question");
        assert!(matches!(held.holds((2 << 20) + 1), Err(StoreError::Budget(_))));

        let second = Budget::new(&memory, soon());
        let mut rest = second.share();
        rest.holds(2 << 20).expect("the oldest has all it may have");
        let late = Budget::new(&memory, Instant::now());
        assert!(matches!(late.share().holds(1), Err(StoreError::Deadline)));
        let waited = memory.in_use();
        assert_eq!((waited.bytes, waited.waits, waited.waiting), (4 << 20, 1, 0));

        drop(held);
        drop(oldest);
        assert_eq!(memory.in_use().bytes, 2 << 20, "what the second holds");
    }

    /// Every question grows in steps to more than half of what is left to it, all at once: none may wait for ever.
    #[test]
    fn many_growing_questions_all_end() {
        const QUESTIONS: usize = 16;
        let memory = QueryMemory::new(8 << 20);
        let start = Barrier::new(QUESTIONS);
        thread::scope(|scope| {
            let run = || {
                start.wait();
                let budget = Budget::new(&memory, soon());
                let (mut one, mut other) = (budget.share(), budget.share());
                for step in 1..=16 {
                    one.holds(step << 17)?;
                    other.holds(step << 17)?;
                    thread::yield_now();
                }
                Ok::<(), StoreError>(())
            };
            let questions: Vec<_> = (0..QUESTIONS).map(|_| scope.spawn(run)).collect();
            for question in questions {
                assert!(question.join().expect("no panic").is_ok());
            }
        });
        let end = memory.in_use();
        assert!(end.peak_bytes <= memory.bytes_max() && end.bytes == 0 && end.waiting == 0, "{end:?}");
    }
}
