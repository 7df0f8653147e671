//! How much of bodies is held in memory at once, over all connections. Beyond it: come back later.
//!
//! A body counts with its declared length from before its first byte until its request is answered; one of unknown
//! length counts with a guess, and with the rest once it is known.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits;

/// Memory for bodies, counted in kilobytes.
pub struct Budget {
    free: Arc<Semaphore>,
}

/// Memory held for one body; dropping it gives it back.
pub struct Held {
    budget: Arc<Semaphore>,
    permit: OwnedSemaphorePermit,
}

impl Budget {
    pub fn new(bytes_max: usize) -> Budget {
        Budget { free: Arc::new(Semaphore::new(kilobytes(bytes_max) as usize)) }
    }

    /// Memory for a body of the declared length; `None` when too much is held already.
    pub fn hold(&self, declared: Option<u64>) -> Option<Held> {
        let bytes =
            declared.map_or(limits::BODY_BYTES_HINT_MAX, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let permit = self.free.clone().try_acquire_many_owned(kilobytes(bytes)).ok()?;
        Some(Held { budget: self.free.clone(), permit })
    }
}

impl Held {
    /// The body turned out to be of this many bytes; false when that is too much.
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let missing = (kilobytes(bytes) as usize).saturating_sub(self.permit.num_permits());
        match self.budget.clone().try_acquire_many_owned(missing as u32) {
            Ok(more) => {
                self.permit.merge(more);
                true
            }
            Err(_) => false,
        }
    }
}

/// Rounded up; a small body still counts.
fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes / limits::KB + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_held_until_dropped() {
        let budget = Budget::new(100 * limits::KB);
        let first = budget.hold(Some(60 * limits::KB as u64)).expect("free memory");
        assert!(budget.hold(Some(60 * limits::KB as u64)).is_none());
        let mut second = budget.hold(Some(1)).expect("a small one still fits");
        assert!(!second.grow_to(60 * limits::KB));
        drop(first);
        assert!(second.grow_to(60 * limits::KB));
        assert!(budget.hold(Some(u64::MAX)).is_none());
    }
}
