//! How much memory one question may hold.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::StoreError;

/// Groups, samples, candidates and the answer of one question together.
pub const QUESTION_BYTES_MAX: usize = 512 << 20;

/// Shared by the threads of one question.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes_max: usize,
    used: AtomicUsize,
}

/// What one thread has taken from the budget.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: usize,
}

impl Budget {
    pub fn new(bytes_max: usize) -> Budget {
        Budget { bytes_max, used: AtomicUsize::new(0) }
    }

    pub fn share(&self) -> Share<'_> {
        Share { budget: self, bytes: 0 }
    }
}

impl Share<'_> {
    /// This thread now holds `bytes` in all.
    pub fn holds(&mut self, bytes: usize) -> Result<(), StoreError> {
        let used = &self.budget.used;
        let total = if bytes >= self.bytes {
            let more = bytes - self.bytes;
            used.fetch_add(more, Ordering::Relaxed).saturating_add(more)
        } else {
            used.fetch_sub(self.bytes - bytes, Ordering::Relaxed)
        };
        self.bytes = bytes;
        if total > self.budget.bytes_max {
            return Err(StoreError::Budget(format!(
                "{} MB; ask for a shorter time or fewer groups",
                self.budget.bytes_max >> 20
            )));
        }
        Ok(())
    }
}
