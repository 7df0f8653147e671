//! Why a record becomes no row.

/// Why a record is no row. The names are the API's (`POST /api/drops`) and never change meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// A root span that matches nothing. SPEC classification, last row; DECISIONS 4.
    UnmatchedRoot,
    /// Refused ids; reported to the sender in the partial success. DECISIONS 5.
    InvalidId,
    /// ExponentialHistogram or Summary. SPEC metrics mapping.
    UnsupportedMetricType,
    /// A point or metric without a value ("no recorded value", an empty number, a metric without data or name).
    EmptyPoint,
    /// A value that is NaN or infinite.
    NotFinite,
    /// Not in the sample. DECISIONS 13.
    Sampled,
    /// A health check that went well, or below one. WIRE 8.6.
    Healthcheck,
    /// A time that does not fit 64-bit nanoseconds; reported to the sender in the partial success. DECISIONS 25.
    InvalidTime,
    /// Older than what the project keeps; reported to the sender in the partial success. DECISIONS 25.
    TooOld,
    /// Already stored. DECISIONS 11. (Found by the store, not by the rules.)
    Duplicate,
}

impl DropReason {
    pub fn as_str(self) -> &'static str {
        match self {
            DropReason::UnmatchedRoot => "unmatched_root",
            DropReason::InvalidId => "invalid_id",
            DropReason::UnsupportedMetricType => "unsupported_metric_type",
            DropReason::EmptyPoint => "empty_point",
            DropReason::NotFinite => "not_finite",
            DropReason::Sampled => "sampled",
            DropReason::Healthcheck => "healthcheck",
            DropReason::InvalidTime => "invalid_time",
            DropReason::TooOld => "too_old",
            DropReason::Duplicate => "duplicate",
        }
    }
}
