//! Quotas of a project.

/// Limits on the telemetry that a project may send. 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Bytes of bodies per day, after decompression.
    pub bytes_a_day: u64,
    /// Spans, log records and metric points per day.
    pub records_a_day: u64,
    /// Spans, log records and metric points per second.
    pub records_a_second: u64,
}

impl Quota {
    /// Combines two quotas: the smaller of each limit.
    pub fn and(self, other: Quota) -> Quota {
        let smaller = |one: u64, other: u64| match (one, other) {
            (0, limit) | (limit, 0) => limit,
            (one, other) => one.min(other),
        };
        Quota {
            bytes_a_day: smaller(self.bytes_a_day, other.bytes_a_day),
            records_a_day: smaller(self.records_a_day, other.records_a_day),
            records_a_second: smaller(self.records_a_second, other.records_a_second),
        }
    }

    /// Returns whether there is no limit.
    pub fn is_none(self) -> bool {
        self == Quota::default()
    }
}
