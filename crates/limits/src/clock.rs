//! The only reader of the wall clock. Everything else is handed a time, the lake this clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Wall-clock time in nanoseconds since the epoch, UTC. Tests hold it still with [`Clock::fixed`].
#[derive(Debug, Clone)]
pub struct Clock {
    /// When the clock was made.
    started: Instant,
    fixed: Option<Fixed>,
}

/// What a test holds; both in nanoseconds.
#[derive(Debug, Clone)]
struct Fixed {
    wall: Arc<AtomicI64>,
    /// Monotonic time. `None`: it passes with the wall clock from `wall_start` on.
    uptime: Option<Arc<AtomicI64>>,
    wall_start: i64,
}

impl Clock {
    pub fn system() -> Clock {
        Clock { started: Instant::now(), fixed: None }
    }

    /// A clock that shows what the handle holds. Monotonic time passes with it: it never jumps.
    pub fn fixed(handle: Arc<AtomicI64>) -> Clock {
        let wall_start = handle.load(Ordering::Relaxed);
        Clock { started: Instant::now(), fixed: Some(Fixed { wall: handle, uptime: None, wall_start }) }
    }

    /// A wall clock and a monotonic clock of which each shows what its handle holds.
    pub fn fixed_both(wall: Arc<AtomicI64>, uptime: Arc<AtomicI64>) -> Clock {
        Clock { started: Instant::now(), fixed: Some(Fixed { wall, uptime: Some(uptime), wall_start: 0 }) }
    }

    /// Nanoseconds since the epoch. 0 when the machine's clock is before 1970.
    pub fn now_ns(&self) -> i64 {
        match &self.fixed {
            Some(fixed) => fixed.wall.load(Ordering::Relaxed),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        }
    }

    /// Monotonic time since the clock was made.
    pub fn uptime(&self) -> Duration {
        let held = |fixed: &Fixed| match &fixed.uptime {
            Some(uptime) => uptime.load(Ordering::Relaxed),
            None => fixed.wall.load(Ordering::Relaxed).saturating_sub(fixed.wall_start),
        };
        match &self.fixed {
            Some(fixed) => Duration::from_nanos(u64::try_from(held(fixed)).unwrap_or(0)),
            None => self.started.elapsed(),
        }
    }
}
