//! The keys of each type of rule, with their defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidewatch_domain::query_language::Pattern;
use tidewatch_query::language::RowKind;
use tidewatch_query::views::metrics::{Aggregation, MetricQuery};

/// Declares the configuration of a type: its keys, their types and defaults.
macro_rules! keys {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $key:ident: $type:ty = $default:expr),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct $name { $($(#[$of])* pub $key: $type),* }
        impl Default for $name {
            fn default() -> Self { $name { $($key: $default),* } }
        }
    };
}

keys! {
    /// `new_error`.
    NewError {
        /// Issues whose title matches one of these are ignored; `*` stands for any characters, and a pattern without
        /// one matches a part of the title. Case does not matter.
        ignore_patterns: Vec<String> = Vec::new(),
    }
}
keys! {
    /// `error_regression`.
    ErrorRegression {}
}
keys! {
    /// `error_rate_threshold`: the share of requests with status 500 and above.
    ErrorRate {
        /// Percent.
        threshold_percent: f64 = 5.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 5,
        /// Requests below which nothing is measured.
        min_requests: f64 = 10.0,
    }
}
keys! {
    /// `error_count_threshold`: exceptions, without messages.
    ErrorCount {
        /// Exceptions.
        threshold_count: f64 = 100.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 60,
    }
}
keys! {
    /// `endpoint_error_rate`.
    EndpointErrorRate {
        /// Name of the Endpoint; `*` stands for any characters.
        endpoint: String = "*".to_owned(),
        /// Percent.
        threshold_percent: f64 = 2.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 10,
        /// Requests below which nothing is measured.
        min_requests: f64 = 20.0,
    }
}
keys! {
    /// `endpoint_p95_threshold` and `endpoint_p99_threshold`.
    EndpointLatency {
        /// Name of the Endpoint; `*` stands for any characters.
        endpoint: String = "*".to_owned(),
        /// Milliseconds.
        threshold_ms: f64 = 500.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 5,
    }
}
keys! {
    /// `apdex_drop`.
    ApdexDrop {
        /// 0 to 1.
        threshold_apdex: f64 = 0.85,
        /// Minutes that are measured.
        lookback_minutes: i64 = 15,
        /// Requests below which nothing is measured.
        min_requests: f64 = 50.0,
    }
}
keys! {
    /// `throughput_drop`: fewer requests a minute than before.
    ThroughputDrop {
        /// Percent.
        drop_percent: f64 = 50.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 15,
        /// Minutes before these, which they are compared with; rounded up to a multiple of them.
        baseline_minutes: i64 = 60,
    }
}
keys! {
    /// `impact_score_critical`, `impact_score_high` and `impact_score_medium`.
    ImpactScore {
        /// Requests of the day below which nothing is measured.
        min_requests: f64 = 50.0,
    }
}
keys! {
    /// `task_duration_threshold`: P95.
    TaskDuration {
        /// Name of the Task; `*` stands for any characters.
        task_name: String = "*".to_owned(),
        /// Milliseconds.
        threshold_ms: f64 = 30_000.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 30,
    }
}
keys! {
    /// `task_failure_rate`.
    TaskFailureRate {
        /// Name of the Task; `*` stands for any characters.
        task_name: String = "*".to_owned(),
        /// Percent.
        threshold_percent: f64 = 10.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 60,
        /// Runs below which nothing is measured.
        min_executions: f64 = 5.0,
    }
}
keys! {
    /// `metric_threshold`.
    MetricThreshold {
        /// Name of the metric.
        metric_name: String = String::new(),
        /// Comparison of the value.
        operator: Operator = Operator::Gt,
        /// In the unit of the metric.
        threshold_value: f64 = 0.0,
        /// Function that combines the points.
        aggregation: Aggregation = Aggregation::Avg,
        /// Minutes that are measured.
        lookback_minutes: i64 = 5,
    }
}
keys! {
    /// `no_data`.
    NoData {
        /// `any`, `endpoints`, `exceptions`, `metrics` or `tasks`.
        data_type: DataType = DataType::Any,
        /// Minutes.
        silence_minutes: i64 = 10,
    }
}
keys! {
    /// `ai_trace_cost`.
    AiTraceCost {
        /// Name of the AI Trace; `*` stands for any characters.
        trace_name: String = "*".to_owned(),
        /// US dollars.
        threshold_cost: f64 = 0.5,
    }
}
keys! {
    /// `ai_conversation_cost`: the cost of a conversation in 24 hours.
    AiConversationCost {
        /// US dollars.
        threshold_cost: f64 = 5.0,
    }
}
keys! {
    /// `ai_flagged_content`.
    AiFlaggedContent {
        /// Terms of the project's word lists; empty: any of them.
        terms: Vec<String> = Vec::new(),
    }
}
keys! {
    /// `check_down`: a monitor is down, and when it has recovered.
    CheckDown {
        /// Ids of monitors; empty: all of the project.
        check_ids: Vec<i64> = Vec::new(),
    }
}
keys! {
    /// `query_threshold`: a search of the query language, or a metrics query.
    QueryThreshold {
        /// Kind of the rows that are searched; null: a metrics query.
        rows: Option<RowKind> = None,
        /// Query of the query language.
        query: String = String::new(),
        /// Measure of the rows.
        measure: QueryMeasure = QueryMeasure::Count,
        /// Name of the metric, without `rows`.
        metric_name: String = String::new(),
        /// Function that combines the points of the metric.
        aggregation: Aggregation = Aggregation::Avg,
        /// Required values by tag of the metric.
        tag_filters: BTreeMap<String, String> = BTreeMap::new(),
        /// Comparison of the value.
        operator: Operator = Operator::Gt,
        /// In the unit of the measure: rows, percent, milliseconds, or the unit of the metric.
        threshold_value: f64 = 0.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 5,
        /// Minutes for which the condition is true before the rule fires.
        for_minutes: i64 = 0,
    }
}
keys! {
    /// `change`: what the change rules of the Overview find.
    ChangeFound {
        /// Kinds of subjects; empty: all.
        kinds: Vec<SubjectKind> = Vec::new(),
        /// Name of the subject; `*` stands for any characters.
        name: String = "*".to_owned(),
    }
}
keys! {
    /// `issue_spike`: an Issue occurs more often than usual.
    IssueSpike {
        /// Hash of the Issue; `*`: any.
        exception_hash: String = "*".to_owned(),
        /// Times the usual rate.
        factor: f64 = 5.0,
        /// Occurrences below which nothing is measured.
        min_count: f64 = 20.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 10,
        /// Hours before these, whose mean rate is usual.
        baseline_hours: i64 = 24,
    }
}
keys! {
    /// `slo_burn`: the error budget of an objective burns too fast.
    SloBurn {
        /// Kind of the objective.
        kind: SloKind = SloKind::Endpoint,
        /// Name of the Endpoint or Task; `*` stands for any characters.
        name: String = "*".to_owned(),
        /// Share of good requests or runs, percent.
        objective_percent: f64 = 99.9,
        /// Requests or runs of an hour below which nothing is measured.
        min_requests: f64 = 50.0,
    }
}
keys! {
    /// `drops`: the server refuses requests or drops records of the project.
    Drops {
        /// Requests and records.
        threshold_count: f64 = 1.0,
        /// Minutes that are measured.
        lookback_minutes: i64 = 5,
    }
}

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

impl MetricThreshold {
    /// The query of the metric.
    pub fn query(&self) -> MetricQuery {
        MetricQuery { name: self.metric_name.clone(), aggregation: self.aggregation, ..MetricQuery::default() }
    }
}

impl QueryThreshold {
    /// The query of the metric, without `rows`.
    pub fn metric_query(&self) -> MetricQuery {
        MetricQuery {
            name: self.metric_name.clone(),
            aggregation: self.aggregation,
            tag_filters: self.tag_filters.clone(),
            group_by: None,
        }
    }
}

/// Whether a name matches a pattern in which `*` stands for any characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    Pattern::with_wildcards(pattern.split('*').map(str::to_owned).collect()).matches(name)
}

impl NewError {
    /// Whether an Issue with this title is ignored.
    pub fn ignores(&self, title: &str) -> bool {
        let title = title.to_lowercase();
        self.ignore_patterns
            .iter()
            .map(|pattern| pattern.to_lowercase())
            .any(|pattern| if pattern.contains('*') { matches(&pattern, &title) } else { title.contains(&pattern) })
    }
}
