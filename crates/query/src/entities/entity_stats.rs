//! Statistics of a group of rows, which all kinds of entities have.

/// Aggregates that every kind of entity has, and the kind's own metrics. Counts are weighted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntityStats<M> {
    /// Number of rows.
    pub total: f64,
    /// P50, P95, P99 of the durations of timed rows, nanoseconds; `None` without timed rows.
    pub percentiles: Option<[f64; 3]>,
    /// Sum of the durations of timed rows, nanoseconds.
    pub duration_sum: f64,
    /// Number of rows that pass [`super::EntityKind::timed`].
    pub timed: f64,
    /// Number of rows with an error.
    pub errors: f64,
    /// Time of the latest row, nanoseconds since the epoch.
    pub last_seen: i64,
    /// Whether a row is the root of its trace.
    pub has_root: bool,
    /// Whether a row is not the root of its trace.
    pub has_non_root: bool,
    /// Number of stored rows, unweighted.
    pub rows: u64,
    /// Metrics of the kind.
    pub own: M,
}

impl<M> EntityStats<M> {
    /// P50, P95 or P99 of durations for `index` 0, 1 or 2, nanoseconds; 0 without timed rows.
    pub fn percentile(&self, index: usize) -> f64 {
        self.percentiles.map_or(0.0, |percentiles| percentiles[index])
    }

    /// Mean duration, nanoseconds; 0 without timed rows.
    pub fn average(&self) -> f64 {
        if self.timed > 0.0 { self.duration_sum / self.timed } else { 0.0 }
    }

    /// `count` as a share of all rows, 0 to 1; 0 without rows.
    pub fn share(&self, count: f64) -> f64 {
        if self.total > 0.0 { count / self.total } else { 0.0 }
    }

    /// Share of rows with an error, 0 to 1; 0 without rows.
    pub fn error_rate(&self) -> f64 {
        self.share(self.errors)
    }
}
