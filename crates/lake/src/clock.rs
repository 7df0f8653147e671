//! The lake's clock. The lake itself reads only the monotonic clock of its own waits.

use std::time::Duration;

/// Wall-clock and monotonic time of the process.
pub trait Clock: Send + Sync {
    /// Wall-clock time, nanoseconds since the epoch, UTC. May jump in both directions.
    fn now_ns(&self) -> i64;

    /// Time since a fixed moment of this process. Never jumps.
    fn uptime(&self) -> Duration;
}
