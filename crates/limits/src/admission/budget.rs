//! How much of bodies is held in memory at once, over all connections. Beyond it: come back later.
//!
//! Bytes count when they have come, whatever length was declared, until the body is dropped. No project holds more than
//! its share, so that it cannot lock out the others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate as limits;

/// Memory for bodies, in bytes.
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

/// Memory held for one body; dropping it gives it back.
pub struct Held {
    budget: Budget,
    project: u32,
    bytes: usize,
}

impl Budget {
    /// `body_bytes_max`: one body of this size always fits into an empty budget.
    pub fn new(bytes_max: usize, body_bytes_max: usize) -> Budget {
        let bytes_max = bytes_max.max(body_bytes_max);
        let project_bytes_max = (bytes_max / limits::QUARTERS * limits::PROJECT_SHARE_QUARTERS).max(body_bytes_max);
        Budget { inner: Arc::new(Inner { bytes_max, project_bytes_max, held: Mutex::default() }) }
    }

    /// Nothing yet, for a body of this project.
    pub fn hold(&self, project: u32) -> Held {
        Held { budget: self.clone(), project, bytes: 0 }
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.inner.held.lock().total
    }
}

impl Held {
    /// So many bytes of the body are here now; false when that is too much.
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

impl Drop for Held {
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
        let (mut first, mut second) = (budget.hold(1), budget.hold(2));
        assert!(first.grow_to(60));
        assert!(!second.grow_to(60));
        assert!(second.grow_to(40));
        assert!(!first.grow_to(61));
        assert_eq!(budget.held(), 100);
        drop(first);
        assert!(second.grow_to(60));
        assert!(second.grow_to(50), "it never shrinks");
        drop(second);
        assert_eq!(budget.held(), 0);
        assert!(budget.inner.held.lock().by_project.is_empty());
    }

    #[test]
    fn no_project_takes_it_all() {
        let budget = Budget::new(100, 10);
        let (mut noisy, mut quiet) = (budget.hold(1), budget.hold(2));
        assert!(!noisy.grow_to(76));
        assert!(noisy.grow_to(75));
        assert!(!budget.hold(1).grow_to(1));
        assert!(quiet.grow_to(25));
    }

    #[test]
    fn one_body_at_the_limit_always_fits() {
        let budget = Budget::new(100, 90);
        assert!(budget.hold(1).grow_to(90));
        assert!(Budget::new(10, 90).hold(1).grow_to(90));
    }
}
