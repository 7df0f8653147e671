//! Limits of the memory for queries and answers: per request, and for all requests.
//!
//! A request borrows from [`QueryMemory`] as its queries grow, holds the memory of its answers, and returns everything
//! when it ends. When too little is left it waits, until its deadline. There is no deadlock: what is lent always leaves
//! enough for the oldest request to grow to its maximum (the banker's algorithm), so the oldest ends, and the next one
//! becomes the oldest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::StoreError;

/// Maximum bytes of the groups, samples, candidates, decode buffers and answers of one request.
pub const REQUEST_BYTES_MAX: usize = 512 << 20;

/// Bytes are borrowed in multiples of this, so that most steps of a query take no lock.
const STEP_BYTES: usize = 1 << 20;
/// Minimum number of steps in which a small budget is lent.
const STEPS_MIN: usize = 64;

/// The memory that the queries of all requests share.
#[derive(Debug)]
pub struct QueryMemory {
    bytes_max: usize,
    request_bytes_max: usize,
    ledger: Mutex<Ledger>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Ledger {
    /// Bytes borrowed by every request; the oldest request has the smallest number.
    requests: BTreeMap<u64, usize>,
    next_request: u64,
    now: QueryMemoryUse,
}

/// The use of a [`QueryMemory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryMemoryUse {
    /// Bytes borrowed now.
    pub bytes: usize,
    /// Maximum of `bytes` since the start.
    pub peak_bytes: usize,
    /// Number of query threads waiting now.
    pub waiting: usize,
    /// Number of waits that have begun since the start.
    pub waits: u64,
    /// Total duration of the waits that have ended.
    pub waited: Duration,
}

impl QueryMemory {
    /// Creates `bytes_max` bytes for all requests. One request gets at most half, and at most [`REQUEST_BYTES_MAX`].
    pub fn new(bytes_max: usize) -> QueryMemory {
        QueryMemory::with(bytes_max, REQUEST_BYTES_MAX.min(bytes_max / 2))
    }

    /// Creates `bytes_max` bytes for a single request.
    pub fn of_one_request(bytes_max: usize) -> QueryMemory {
        QueryMemory::with(bytes_max, bytes_max)
    }

    fn with(bytes_max: usize, request_bytes_max: usize) -> QueryMemory {
        QueryMemory { bytes_max, request_bytes_max, ledger: Mutex::default(), returned: Condvar::new() }
    }

    /// Maximum bytes of all requests.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The use at this moment.
    pub fn in_use(&self) -> QueryMemoryUse {
        self.ledger.lock().now
    }

    /// Raises the bytes borrowed by a request to `bytes`; may wait until `deadline`.
    fn lend(&self, request: u64, bytes: usize, deadline: Instant) -> Result<(), StoreError> {
        let mut ledger = self.ledger.lock();
        if !self.try_lend(&mut ledger, request, bytes) {
            let began = Instant::now();
            ledger.now.waits += 1;
            ledger.now.waiting += 1;
            let mut is_late = false;
            while !self.try_lend(&mut ledger, request, bytes) {
                is_late = self.returned.wait_until(&mut ledger, deadline).timed_out();
                if is_late {
                    is_late = !self.try_lend(&mut ledger, request, bytes);
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

    /// Lends if the rest lets the oldest request grow to its maximum; returns whether it did.
    fn try_lend(&self, ledger: &mut Ledger, request: u64, bytes: usize) -> bool {
        let own = ledger.requests.get(&request).copied().unwrap_or(0);
        let Some(more) = bytes.checked_sub(own).filter(|more| *more > 0) else { return true };
        let reserved = match ledger.requests.first_key_value() {
            Some((oldest, borrowed)) if *oldest != request => self.request_bytes_max.saturating_sub(*borrowed),
            _ => 0,
        };
        if ledger.now.bytes.saturating_add(more).saturating_add(reserved) > self.bytes_max {
            return false;
        }
        ledger.requests.insert(request, bytes);
        ledger.now.bytes += more;
        ledger.now.peak_bytes = ledger.now.peak_bytes.max(ledger.now.bytes);
        true
    }
}

/// The memory of one request, shared by its queries and their threads. Dropping it returns what was borrowed.
#[derive(Debug)]
pub struct RequestMemory {
    memory: Arc<QueryMemory>,
    request: u64,
    /// Bytes used by all threads and by answers; exceeds `borrowed` only for a moment.
    used: AtomicUsize,
    borrowed: AtomicUsize,
}

impl RequestMemory {
    /// Registers a request that has borrowed nothing yet; it is younger than every earlier one.
    pub fn new(memory: &Arc<QueryMemory>) -> RequestMemory {
        let mut ledger = memory.ledger.lock();
        let request = ledger.next_request;
        ledger.next_request += 1;
        ledger.requests.insert(request, 0);
        drop(ledger);
        let (used, borrowed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        RequestMemory { memory: Arc::clone(memory), request, used, borrowed }
    }

    /// Reserves `bytes` more, for an answer, until the request ends. May wait; errors are those of [`Share::holds`].
    pub fn keep(&self, bytes: usize, deadline: Instant) -> Result<(), StoreError> {
        self.borrow(self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes), deadline)
    }

    fn borrow(&self, used: usize, deadline: Instant) -> Result<(), StoreError> {
        let bytes_max = self.memory.request_bytes_max;
        if used > bytes_max {
            let most = bytes_max >> 20;
            return Err(StoreError::Budget(format!("{most} MB; ask for a shorter time or fewer groups")));
        }
        if used <= self.borrowed.load(Ordering::Acquire) {
            return Ok(());
        }
        let step = STEP_BYTES.min(bytes_max / STEPS_MIN).max(1);
        let wanted = used.div_ceil(step).saturating_mul(step).min(bytes_max);
        self.memory.lend(self.request, wanted, deadline)?;
        self.borrowed.fetch_max(wanted, Ordering::Release);
        Ok(())
    }
}

impl Drop for RequestMemory {
    fn drop(&mut self) {
        let mut ledger = self.memory.ledger.lock();
        ledger.now.bytes -= ledger.requests.remove(&self.request).unwrap_or(0);
        self.memory.returned.notify_all();
    }
}

/// The memory of one query, shared by its threads.
#[derive(Debug, Clone, Copy)]
pub struct Budget<'m> {
    memory: &'m RequestMemory,
    deadline: Instant,
}

/// The bytes that one thread holds of a [`Budget`]; dropping it releases them.
#[derive(Debug)]
pub struct Share<'a> {
    budget: &'a Budget<'a>,
    bytes: usize,
}

impl Budget<'_> {
    /// Creates the budget of one query of a request; waits for memory end at `deadline`.
    pub fn new(memory: &RequestMemory, deadline: Instant) -> Budget<'_> {
        Budget { memory, deadline }
    }

    /// Creates an empty share for one thread.
    pub fn share(&self) -> Share<'_> {
        Share { budget: self, bytes: 0 }
    }
}

impl Share<'_> {
    /// Sets the bytes that this thread holds to `bytes`. Waits while other requests hold what is missing.
    ///
    /// Fails with [`StoreError::Budget`] when the request exceeds its maximum, and with [`StoreError::Deadline`] when
    /// the deadline passes during the wait.
    pub fn holds(&mut self, bytes: usize) -> Result<(), StoreError> {
        let Budget { memory, deadline } = *self.budget;
        let before = std::mem::replace(&mut self.bytes, bytes);
        match bytes.checked_sub(before) {
            Some(0) => Ok(()),
            Some(more) => memory.borrow(memory.used.fetch_add(more, Ordering::Relaxed).saturating_add(more), deadline),
            None => {
                memory.used.fetch_sub(before - bytes, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    const FAR: Duration = Duration::from_secs(60);

    fn soon() -> Instant {
        Instant::now() + FAR
    }

    fn memory(bytes_max: usize) -> Arc<QueryMemory> {
        Arc::new(QueryMemory::new(bytes_max))
    }

    #[test]
    fn a_request_waits_for_what_another_holds() {
        let memory = memory(4 << 20);
        let (oldest, second) = (RequestMemory::new(&memory), RequestMemory::new(&memory));
        Budget::new(&oldest, soon()).share().holds(2 << 20).expect("half is for one request");
        let budget = Budget::new(&second, soon());
        let mut rest = budget.share();
        rest.holds(2 << 20).expect("the oldest has all it may have");
        thread::scope(|scope| {
            let third = scope.spawn(|| {
                let third = RequestMemory::new(&memory);
                Budget::new(&third, soon()).share().holds(1 << 20)
            });
            let deadline = soon();
            while memory.in_use().waiting == 0 {
                assert!(Instant::now() < deadline, "nobody waits");
                thread::yield_now();
            }
            drop(oldest);
            assert!(third.join().expect("no panic").is_ok(), "the oldest has ended");
        });
        assert_eq!((memory.in_use().waits, memory.in_use().peak_bytes), (1, 4 << 20));
    }

    #[test]
    fn waiting_ends_at_the_deadline_and_one_request_has_a_maximum() {
        let memory = memory(4 << 20);
        let oldest = RequestMemory::new(&memory);
        let budget = Budget::new(&oldest, soon());
        let mut held = budget.share();
        held.holds(2 << 20).expect("half is for one request");
        assert!(matches!(held.holds((2 << 20) + 1), Err(StoreError::Budget(_))));

        let second = RequestMemory::new(&memory);
        let of_second = Budget::new(&second, soon());
        let mut rest = of_second.share();
        rest.holds(2 << 20).expect("the oldest has all it may have");
        let late = RequestMemory::new(&memory);
        assert!(matches!(Budget::new(&late, Instant::now()).share().holds(1), Err(StoreError::Deadline)));
        let waited = memory.in_use();
        assert_eq!((waited.bytes, waited.waits, waited.waiting), (4 << 20, 1, 0));

        drop(held);
        drop(oldest);
        assert_eq!(memory.in_use().bytes, 2 << 20, "what the second holds");
    }

    /// An answer outlives its query: it counts until its request ends.
    #[test]
    fn answers_count_until_the_request_ends() {
        let memory = memory(4 << 20);
        let request = RequestMemory::new(&memory);
        let query = |bytes| Budget::new(&request, soon()).share().holds(bytes);
        query(2 << 20).expect("half is for one request");
        request.keep(1 << 20, soon()).expect("the query has ended");
        query(1 << 20).expect("beside the answer");
        assert!(matches!(query((1 << 20) + 1), Err(StoreError::Budget(_))), "beside the answer");
        assert!(matches!(request.keep((1 << 20) + 1, soon()), Err(StoreError::Budget(_))));
        drop(request);
        assert_eq!(memory.in_use().bytes, 0);
    }

    /// Concurrent requests grow in steps to more than half of what is left and keep an answer between their queries:
    /// none may wait forever.
    #[test]
    fn many_growing_requests_all_end() {
        const REQUESTS: usize = 16;
        let memory = memory(8 << 20);
        let start = Barrier::new(REQUESTS);
        thread::scope(|scope| {
            let run = || {
                start.wait();
                let request = RequestMemory::new(&memory);
                for _query in 0..2 {
                    let budget = Budget::new(&request, soon());
                    let (mut one, mut other) = (budget.share(), budget.share());
                    for step in 1..=12 {
                        one.holds(step << 17)?;
                        other.holds(step << 17)?;
                        thread::yield_now();
                    }
                    drop((one, other));
                    request.keep(1 << 19, soon())?;
                }
                Ok::<(), StoreError>(())
            };
            let requests: Vec<_> = (0..REQUESTS).map(|_| scope.spawn(run)).collect();
            for request in requests {
                assert!(request.join().expect("no panic").is_ok());
            }
        });
        let end = memory.in_use();
        assert!(end.peak_bytes <= memory.bytes_max() && end.bytes == 0 && end.waiting == 0, "{end:?}");
    }
}
