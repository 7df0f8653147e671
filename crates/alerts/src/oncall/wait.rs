//! A wait that neither a clock that jumps ahead nor one that jumps back multiplies or makes endless.

/// A wait of known length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The end, nanoseconds since the epoch.
    pub until_ns: i64,
    /// The length, nanoseconds.
    pub length_ns: i64,
}

impl Wait {
    /// A wait that begins now. What follows it is counted from the time at which it was found over, so that after a jump
    /// ahead one wait is over, and not all of those that would follow it.
    pub fn begin(now_ns: i64, length_ns: i64) -> Wait {
        Wait { until_ns: now_ns.saturating_add(length_ns), length_ns }
    }

    /// Whether it is over.
    pub fn is_over(self, now_ns: i64) -> bool {
        self.until_ns <= now_ns
    }

    /// The wait after the clock may have jumped back: never longer than its length.
    pub fn bounded(self, now_ns: i64) -> Wait {
        if self.until_ns.saturating_sub(now_ns) > self.length_ns { Wait::begin(now_ns, self.length_ns) } else { self }
    }
}
