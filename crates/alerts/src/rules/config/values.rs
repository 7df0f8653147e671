//! Values that configurations choose from.

use serde::{Deserialize, Serialize};

/// A comparison with the threshold on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Equal.
    Eq,
}

impl Operator {
    /// Whether the comparison of `value` is true.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Operator::Gt => value > threshold,
            Operator::Gte => value >= threshold,
            Operator::Lt => value < threshold,
            Operator::Lte => value <= threshold,
            Operator::Eq => value == threshold,
        }
    }
}

/// Kinds of data that a project sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum DataType {
    Any,
    Endpoints,
    Exceptions,
    Metrics,
    Tasks,
}

/// Kinds of subjects that change for the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SubjectKind {
    Endpoint,
    Task,
    AiTrace,
    Issue,
    Service,
}

/// Kind of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SloKind {
    /// Requests; good ones have a status below 500.
    Endpoint,
    /// Runs; good ones have no error.
    Task,
}

/// Measure of the rows of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueryMeasure {
    /// Their number.
    Count,
    /// Their failed share, percent.
    ErrorRate,
    /// A quantile of their durations, milliseconds.
    P50,
    /// Likewise.
    P95,
    /// Likewise.
    P99,
}

/// Levels of the impact score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImpactThreshold {
    /// At least 0.75.
    Critical,
    /// At least 0.50.
    High,
    /// At least 0.25.
    Medium,
}

impl ImpactThreshold {
    /// The least score.
    pub fn score(self) -> f64 {
        match self {
            ImpactThreshold::Critical => 0.75,
            ImpactThreshold::High => 0.50,
            ImpactThreshold::Medium => 0.25,
        }
    }
}
