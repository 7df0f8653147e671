//! Formulas over aggregates that rank entities: impact, Apdex, task rank.
//!
//! Counts are weighted by sampling, so they are `f64`. The store counts requests by the bands defined here. SPEC entity
//! rows, "Default ranking"; WIRE 8.1.

use std::cmp::Ordering;

use crate::units::MILLISECOND_NS;

/// Apdex thresholds in nanoseconds, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexBands {
    /// Longest duration of a satisfied request.
    pub satisfied_ns: i64,
    /// Longest duration of a tolerated request.
    pub tolerated_ns: i64,
}

impl ApdexBands {
    /// For lists, impact and alerts: 750 and 1500 ms, both plus the Endpoint's accepted slow offset.
    pub const fn impact(slow_offset_ns: i64) -> Self {
        let offset = if slow_offset_ns > 0 { slow_offset_ns } else { 0 };
        ApdexBands {
            satisfied_ns: (750 * MILLISECOND_NS).saturating_add(offset),
            tolerated_ns: (1_500 * MILLISECOND_NS).saturating_add(offset),
        }
    }

    /// For the page of one Endpoint: 500 and 2000 ms.
    pub const fn detail() -> Self {
        ApdexBands { satisfied_ns: 500 * MILLISECOND_NS, tolerated_ns: 2_000 * MILLISECOND_NS }
    }
}

/// Apdex, 0 to 1; `None` without requests. `total` counts the requests to which the bands apply.
pub fn apdex(satisfied: f64, tolerating: f64, total: f64) -> Option<f64> {
    (total > 0.0).then(|| ((satisfied + tolerating / 2.0) / total).clamp(0.0, 1.0))
}

/// Weighted counts of one Endpoint's requests. Streaming responses count in `total`, `client_errors` and, with status
/// 500 and above, in `bad`. Latency statistics exclude them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EndpointAggregate {
    /// All requests.
    pub total: f64,
    /// Requests without a stream, the base of `satisfied` and `tolerating`.
    pub timed: f64,
    /// Requests without a stream, within the first band, with a status below 500.
    pub satisfied: f64,
    /// Requests without a stream, between the bands, with a status below 500.
    pub tolerating: f64,
    /// Requests with a status of 500 and above, or without a stream and slower than the second band.
    pub bad: f64,
    /// Requests with a status of 400 to 499.
    pub client_errors: f64,
    /// P99 of requests without a stream; `None` when there are none.
    pub p99_ns: Option<f64>,
    /// Accepted extra latency of this Endpoint, nanoseconds.
    pub slow_offset_ns: i64,
    /// `UNMATCHED` has no client-error score. SPEC endpoint naming, rule 2.
    pub is_unmatched: bool,
}

/// The level of an impact score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImpactLevel {
    /// Below 0.25.
    Good,
    /// From 0.25.
    Medium,
    /// From 0.50.
    High,
    /// From 0.75.
    Critical,
}

impl ImpactLevel {
    /// The level of a score.
    pub fn of(score: f64) -> Self {
        match score {
            score if score >= 0.75 => ImpactLevel::Critical,
            score if score >= 0.50 => ImpactLevel::High,
            score if score >= 0.25 => ImpactLevel::Medium,
            _ => ImpactLevel::Good,
        }
    }

    /// Lower-case name, as the API returns it.
    pub fn as_str(self) -> &'static str {
        match self {
            ImpactLevel::Good => "good",
            ImpactLevel::Medium => "medium",
            ImpactLevel::High => "high",
            ImpactLevel::Critical => "critical",
        }
    }
}

/// The impact of an Endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    /// 0 to 1: the largest of the five components.
    pub score: f64,
    /// Level of the score.
    pub level: ImpactLevel,
    /// One clause about the largest component; empty for level `Good`.
    pub reason: String,
}

/// The largest of five components. The first of equal ones in this order gives the reason: P99, volume, client errors,
/// bad rate, Apdex.
pub fn impact(endpoint: &EndpointAggregate) -> Impact {
    let share = |count: f64| if endpoint.total > 0.0 { count / endpoint.total } else { 0.0 };
    let bad_rate = share(endpoint.bad);
    let client_error_rate = share(endpoint.client_errors);
    let late_seconds = endpoint.p99_ns.map_or(0.0, |p99| (p99 - endpoint.slow_offset_ns.max(0) as f64) / 1.0e9);
    let apdex = apdex(endpoint.satisfied, endpoint.tolerating, endpoint.timed);
    let has_client_errors = endpoint.total > 10.0 && !endpoint.is_unmatched;

    let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
    let components = [
        (
            steps(late_seconds, &[(8.0, 0.75), (6.0, 0.50), (3.0, 0.25)]),
            format!("P99 is {:.1} s", endpoint.p99_ns.unwrap_or(0.0) / 1.0e9),
        ),
        (volume(bad_rate, endpoint.bad), format!("{:.0} bad requests ({})", endpoint.bad, percent(bad_rate))),
        (
            if has_client_errors { steps(client_error_rate, &[(0.50, 0.75), (0.25, 0.50)]) } else { 0.0 },
            format!("{} client errors", percent(client_error_rate)),
        ),
        (
            steps(bad_rate, &[(0.33, 0.75), (0.20, 0.50), (0.10, 0.25)]),
            format!("{} of requests are bad", percent(bad_rate)),
        ),
        (apdex.map_or(0.0, |apdex| 1.0 - apdex), format!("Apdex is {:.2}", apdex.unwrap_or(1.0))),
    ];
    let mut winner = (0.0, String::new());
    for (score, reason) in components {
        if score > winner.0 {
            winner = (score, reason);
        }
    }
    let (score, reason) = winner;
    let level = ImpactLevel::of(score);
    Impact { score, level, reason: if level == ImpactLevel::Good { String::new() } else { reason } }
}

/// The score of the first threshold below the value. Thresholds descend.
fn steps(value: f64, thresholds: &[(f64, f64)]) -> f64 {
    thresholds.iter().find(|(threshold, _)| value > *threshold).map_or(0.0, |(_, score)| *score)
}

/// Score of the number of bad requests. Rows are (rate above, count at least, score); the first match wins.
fn volume(bad_rate: f64, bad: f64) -> f64 {
    const TABLE: [(f64, f64, f64); 8] = [
        (0.10, 500.0, 0.75),
        (0.10, 50.0, 0.50),
        (0.05, 2_000.0, 0.75),
        (0.05, 500.0, 0.50),
        (0.05, 50.0, 0.25),
        (0.01, 10_000.0, 0.75),
        (0.01, 2_000.0, 0.50),
        (0.01, 500.0, 0.25),
    ];
    TABLE.iter().find(|(rate, count, _)| bad_rate > *rate && bad >= *count).map_or(0.0, |(_, _, score)| *score)
}

/// The rank of a Task: count x (P95 - P50), in nanoseconds. SPEC entity rows.
pub fn task_rank(count: f64, p50_ns: f64, p95_ns: f64) -> f64 {
    count * (p95_ns - p50_ns).max(0.0)
}

/// Orders AI Traces by total cost, descending; unpriced ones last. SPEC entity rows.
pub fn by_total_cost(left: Option<f64>, right: Option<f64>) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) => right.total_cmp(&left),
        (left, right) => right.is_some().cmp(&left.is_some()),
    }
}

/// The percentile of ascending values, linearly interpolated at index `share * (n - 1)`. `None` without values. `share`
/// is 0 to 1.
pub fn percentile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let index = share.clamp(0.0, 1.0) * last as f64;
    let low = index.floor() as usize;
    let (below, above) = (ascending[low], ascending[(low + 1).min(last)]);
    Some(below + (above - below) * (index - low as f64))
}

#[cfg(test)]
mod tests;
