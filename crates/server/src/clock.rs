//! The only reader of the wall clock. Everything else is handed a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock time in nanoseconds since the epoch, UTC. Tests hold it still with [`Clock::fixed`].
#[derive(Debug, Clone, Default)]
pub struct Clock {
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    pub fn system() -> Clock {
        Clock::default()
    }

    /// A clock that shows what the handle holds.
    pub fn fixed(handle: Arc<AtomicI64>) -> Clock {
        Clock { fixed: Some(handle) }
    }

    /// Nanoseconds since the epoch. 0 when the machine's clock is before 1970.
    pub fn now_ns(&self) -> i64 {
        match &self.fixed {
            Some(handle) => handle.load(Ordering::Relaxed),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        }
    }
}
