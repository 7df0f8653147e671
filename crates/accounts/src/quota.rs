//! What a project may send, as set for it or for all.

/// 0: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Of bodies, inflated.
    pub bytes_a_day: u64,
    /// Spans, log records and metric points.
    pub records_a_day: u64,
    pub records_a_second: u64,
}

impl Quota {
    /// Both hold: the smaller number where both say one.
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

    pub fn is_none(self) -> bool {
        self == Quota::default()
    }
}
