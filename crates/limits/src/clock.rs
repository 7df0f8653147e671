//! The only reader of the wall clock. Other code receives a time or this clock as a parameter.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest time between two readings that count as one moment.
const APART_MAX: Duration = Duration::from_secs(1);

/// A wall clock in UTC and a monotonic clock. Tests control both with [`Clock::fixed`]. Clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Creation of the clock.
    started: Instant,
    fixed: Option<Fixed>,
}

/// Times that a test sets, in nanoseconds.
#[derive(Debug, Clone)]
struct Fixed {
    wall: Arc<AtomicI64>,
    /// Monotonic time. `None`: it advances with the wall clock, from 0 at `wall_start`.
    uptime: Option<Arc<AtomicI64>>,
    wall_start: i64,
}

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Clock {
        Clock { started: Instant::now(), fixed: None }
    }

    /// A clock that shows the value of `handle`, nanoseconds since the epoch. Monotonic time advances with it: the wall
    /// clock never jumps.
    pub fn fixed(handle: Arc<AtomicI64>) -> Clock {
        let wall_start = handle.load(Ordering::Relaxed);
        Clock { started: Instant::now(), fixed: Some(Fixed { wall: handle, uptime: None, wall_start }) }
    }

    /// A wall clock and a monotonic clock that show the values of their handles, in nanoseconds.
    pub fn fixed_both(wall: Arc<AtomicI64>, uptime: Arc<AtomicI64>) -> Clock {
        Clock { started: Instant::now(), fixed: Some(Fixed { wall, uptime: Some(uptime), wall_start: 0 }) }
    }

    /// Wall-clock time, nanoseconds since the epoch, UTC. 0 when the machine's clock is before 1970.
    pub fn now_ns(&self) -> i64 {
        match &self.fixed {
            Some(fixed) => fixed.wall.load(Ordering::Relaxed),
            None => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        }
    }

    /// Monotonic time since the clock was created.
    pub fn uptime(&self) -> Duration {
        let uptime_ns = |fixed: &Fixed| match &fixed.uptime {
            Some(uptime) => uptime.load(Ordering::Relaxed),
            None => fixed.wall.load(Ordering::Relaxed).saturating_sub(fixed.wall_start),
        };
        match &self.fixed {
            Some(fixed) => Duration::from_nanos(u64::try_from(uptime_ns(fixed)).unwrap_or(0)),
            None => self.started.elapsed(),
        }
    }

    /// [`Clock::now_ns`] and [`Clock::uptime`] of one moment. If the process was suspended between the readings, it reads
    /// again: the two would differ as if the wall clock had jumped.
    pub fn both(&self) -> (i64, Duration) {
        loop {
            let (before, now_ns, uptime) = (self.uptime(), self.now_ns(), self.uptime());
            if uptime.saturating_sub(before) <= APART_MAX {
                return (now_ns, uptime);
            }
        }
    }
}
