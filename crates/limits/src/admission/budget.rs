//! The memory that request bodies may hold at once, over all connections.
//!
//! Bytes count from their arrival, whatever length was declared, until the body is dropped. No project holds more than
//! its share, so that it cannot lock out the others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate as limits;

/// A limit on the memory of request bodies, in bytes. Clones share it.
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

struct Inner {
    bytes_max: usize,
    project_bytes_max: usize,
    held: Mutex<HeldBytes>,
}

#[derive(Default)]
struct HeldBytes {
    total: usize,
    by_project: HashMap<u32, usize>,
}

/// Memory reserved for one body. Dropping it releases the memory.
pub struct MemoryReservation {
    budget: Budget,
    project: u32,
    bytes: usize,
}

impl Budget {
    /// A budget of `bytes_max` bytes, or of `body_bytes_max` if that is more: one body of this size always fits into an
    /// empty budget.
    pub fn new(bytes_max: usize, body_bytes_max: usize) -> Budget {
        let bytes_max = bytes_max.max(body_bytes_max);
        let project_bytes_max = (bytes_max / limits::QUARTERS * limits::PROJECT_SHARE_QUARTERS).max(body_bytes_max);
        Budget { inner: Arc::new(Inner { bytes_max, project_bytes_max, held: Mutex::default() }) }
    }

    /// Starts an empty reservation for one request body of `project`.
    pub fn reserve(&self, project: u32) -> MemoryReservation {
        MemoryReservation { budget: self.clone(), project, bytes: 0 }
    }

    /// Bytes that are reserved now.
    pub fn held(&self) -> usize {
        self.inner.held.lock().total
    }
}

impl MemoryReservation {
    /// Grows the reservation to `bytes` in total; it never shrinks. Returns false, and changes nothing, when the budget
    /// or the project's share is exceeded.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else { return true };
        let inner = &*self.budget.inner;
        let mut held = inner.held.lock();
        let total = held.total.saturating_add(more);
        let own = held.by_project.get(&self.project).copied().unwrap_or(0).saturating_add(more);
        if total > inner.bytes_max || own > inner.project_bytes_max {
            return false;
        }
        held.total = total;
        held.by_project.insert(self.project, own);
        self.bytes = bytes;
        true
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.budget.inner.held.lock();
        held.total -= self.bytes;
        if let Some(own) = held.by_project.get_mut(&self.project) {
            *own -= self.bytes;
            if *own == 0 {
                held.by_project.remove(&self.project);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_held_until_dropped() {
        let budget = Budget::new(100, 10);
        let (mut first, mut second) = (budget.reserve(1), budget.reserve(2));
        assert!(first.grow_to(60));
        assert!(!second.grow_to(60));
        assert!(second.grow_to(40));
        assert!(!first.grow_to(61));
        assert_eq!(budget.held(), 100);
        drop(first);
        assert!(second.grow_to(60));
        assert!(second.grow_to(50), "a reservation never shrinks");
        drop(second);
        assert_eq!(budget.held(), 0);
        assert!(budget.inner.held.lock().by_project.is_empty());
    }

    #[test]
    fn no_project_exhausts_the_budget() {
        let budget = Budget::new(100, 10);
        let (mut noisy, mut quiet) = (budget.reserve(1), budget.reserve(2));
        assert!(!noisy.grow_to(76));
        assert!(noisy.grow_to(75));
        assert!(!budget.reserve(1).grow_to(1));
        assert!(quiet.grow_to(25));
    }

    #[test]
    fn one_body_at_the_limit_always_fits() {
        let budget = Budget::new(100, 90);
        assert!(budget.reserve(1).grow_to(90));
        assert!(Budget::new(10, 90).reserve(1).grow_to(90));
    }
}
