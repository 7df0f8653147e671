//! The keys of each type of rule, with their defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidewatch_domain::query_language::Pattern;
use tidewatch_query::language::RowKind;
use tidewatch_query::views::metrics::{Aggregation, MetricQuery};

use super::fields::*;
use super::values::*;
use crate::fields::{ConfigField, json};

/// The configuration of a type.
pub(super) trait Keys {
    /// The configuration with every key.
    fn to_value(&self) -> Value;
    /// The fields, without defaults.
    fn fields(&self) -> Vec<ConfigField>;
}

/// Declares the configuration of a type: its keys, their types, defaults and descriptions, in the order of forms.
macro_rules! keys {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$of:meta])* $key:ident: $type:ty = $default:expr => $field:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct $name { $($(#[$of])* pub $key: $type),* }
        impl Default for $name {
            fn default() -> Self { $name { $($key: $default),* } }
        }
        impl Keys for $name {
            fn to_value(&self) -> Value { json(self) }
            fn fields(&self) -> Vec<ConfigField> { vec![$($field.at_field(stringify!($key))),*] }
        }
    };
}

keys! {
    /// `new_error`.
    NewError {
        /// Issues whose title matches one of these are ignored; `*` stands for any characters, and a pattern without
        /// one matches a part of the title. Case does not matter.
        ignore_patterns: Vec<String> = Vec::new() => ignored(),
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
        threshold_percent: f64 = 5.0 => percent("Threshold"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 5 => lookback(),
        /// Requests below which nothing is measured.
        min_requests: f64 = 10.0 => count("Requests at least"),
    }
}
keys! {
    /// `error_count_threshold`: exceptions, without messages.
    ErrorCount {
        /// Exceptions.
        threshold_count: f64 = 100.0 => positive("Exceptions"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 60 => lookback(),
    }
}
keys! {
    /// `endpoint_error_rate`.
    EndpointErrorRate {
        /// Name of the Endpoint; `*` stands for any characters.
        endpoint: String = "*".to_owned() => pattern("Endpoint"),
        /// Percent.
        threshold_percent: f64 = 2.0 => percent("Threshold"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 10 => lookback(),
        /// Requests below which nothing is measured.
        min_requests: f64 = 20.0 => count("Requests at least"),
    }
}
keys! {
    /// `endpoint_p95_threshold` and `endpoint_p99_threshold`.
    EndpointLatency {
        /// Name of the Endpoint; `*` stands for any characters.
        endpoint: String = "*".to_owned() => pattern("Endpoint"),
        /// Milliseconds.
        threshold_ms: f64 = 500.0 => milliseconds("Threshold"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 5 => lookback(),
    }
}
keys! {
    /// `apdex_drop`.
    ApdexDrop {
        /// 0 to 1.
        threshold_apdex: f64 = 0.85 => number("Threshold", 0.0, 1.0),
        /// Minutes that are measured.
        lookback_minutes: i64 = 15 => lookback(),
        /// Requests below which nothing is measured.
        min_requests: f64 = 50.0 => count("Requests at least"),
    }
}
keys! {
    /// `throughput_drop`: fewer requests a minute than before.
    ThroughputDrop {
        /// Percent.
        drop_percent: f64 = 50.0 => percent("Drop"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 15 => lookback(),
        /// Minutes before these, which they are compared with; rounded up to a multiple of them.
        baseline_minutes: i64 = 60 => baseline_minutes(),
    }
}
keys! {
    /// `impact_score_critical`, `impact_score_high` and `impact_score_medium`.
    ImpactScore {
        /// Requests of the day below which nothing is measured.
        min_requests: f64 = 50.0 => count("Requests at least"),
    }
}
keys! {
    /// `task_duration_threshold`: P95.
    TaskDuration {
        /// Name of the Task; `*` stands for any characters.
        task_name: String = "*".to_owned() => pattern("Task"),
        /// Milliseconds.
        threshold_ms: f64 = 30_000.0 => milliseconds("Threshold"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 30 => lookback(),
    }
}
keys! {
    /// `task_failure_rate`.
    TaskFailureRate {
        /// Name of the Task; `*` stands for any characters.
        task_name: String = "*".to_owned() => pattern("Task"),
        /// Percent.
        threshold_percent: f64 = 10.0 => percent("Threshold"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 60 => lookback(),
        /// Runs below which nothing is measured.
        min_executions: f64 = 5.0 => count("Runs at least"),
    }
}
keys! {
    /// `metric_threshold`.
    MetricThreshold {
        /// Name of the metric.
        metric_name: String = String::new() => name("Metric"),
        /// Function that combines the points.
        aggregation: Aggregation = Aggregation::Avg => aggregation(&[]),
        /// Comparison of the value.
        operator: Operator = Operator::Gt => operator(),
        /// In the unit of the metric.
        threshold_value: f64 = 0.0 => threshold(),
        /// Minutes that are measured.
        lookback_minutes: i64 = 5 => lookback(),
    }
}
keys! {
    /// `no_data`.
    NoData {
        /// `any`, `endpoints`, `exceptions`, `metrics` or `tasks`.
        data_type: DataType = DataType::Any => data_type(),
        /// Minutes.
        silence_minutes: i64 = 10 => minutes("Silent for"),
    }
}
keys! {
    /// `ai_trace_cost`.
    AiTraceCost {
        /// Name of the AI Trace; `*` stands for any characters.
        trace_name: String = "*".to_owned() => pattern("Name"),
        /// US dollars.
        threshold_cost: f64 = 0.5 => dollars("Threshold"),
    }
}
keys! {
    /// `ai_conversation_cost`: the cost of a conversation in 24 hours.
    AiConversationCost {
        /// US dollars.
        threshold_cost: f64 = 5.0 => dollars("Threshold"),
    }
}
keys! {
    /// `ai_flagged_content`.
    AiFlaggedContent {
        /// Terms of the project's word lists; empty: any of them.
        terms: Vec<String> = Vec::new() => terms(),
    }
}
keys! {
    /// `check_down`: a monitor is down, and when it has recovered.
    CheckDown {
        /// Ids of monitors; empty: all of the project.
        check_ids: Vec<i64> = Vec::new() => monitors(),
    }
}
keys! {
    /// `query_threshold`: a search of the query language, or a metrics query.
    QueryThreshold {
        /// Kind of the rows that are searched; null: a metrics query.
        rows: Option<RowKind> = None => rows(),
        /// Query of the query language.
        query: String = String::new() => of_rows(query()),
        /// Measure of the rows.
        measure: QueryMeasure = QueryMeasure::Count => of_rows(measure()),
        /// Name of the metric, without `rows`.
        metric_name: String = String::new() => of_metric(name("Metric")),
        /// Function that combines the points of the metric.
        aggregation: Aggregation = Aggregation::Avg => of_metric(aggregation_of_query()),
        /// Required values by tag of the metric.
        tag_filters: BTreeMap<String, String> = BTreeMap::new() => of_metric(tags()),
        /// Comparison of the value.
        operator: Operator = Operator::Gt => operator(),
        /// In the unit of the measure: rows, percent, milliseconds, or the unit of the metric.
        threshold_value: f64 = 0.0 => threshold(),
        /// Minutes that are measured.
        lookback_minutes: i64 = 5 => lookback(),
        /// Minutes for which the condition is true before the rule fires.
        for_minutes: i64 = 0 => minutes("For").within(0..=LOOKBACK_MAX),
    }
}
keys! {
    /// `change`: what the change rules of the Overview find.
    ChangeFound {
        /// Kinds of subjects; empty: all.
        kinds: Vec<SubjectKind> = Vec::new() => subjects(),
        /// Name of the subject; `*` stands for any characters.
        name: String = "*".to_owned() => pattern("Name"),
    }
}
keys! {
    /// `issue_spike`: an Issue occurs more often than usual.
    IssueSpike {
        /// Hash of the Issue; `*`: any.
        exception_hash: String = "*".to_owned() => issue(),
        /// Times the usual rate.
        factor: f64 = 5.0 => number("Times as often as usual", 1.0, 1e6).unit("×"),
        /// Occurrences below which nothing is measured.
        min_count: f64 = 20.0 => positive("Occurrences at least"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 10 => lookback(),
        /// Hours before these, whose mean rate is usual.
        baseline_hours: i64 = 24 => baseline_hours(),
    }
}
keys! {
    /// `slo_burn`: the error budget of an objective burns too fast.
    SloBurn {
        /// Kind of the objective.
        kind: SloKind = SloKind::Endpoint => objective_kind(),
        /// Name of the Endpoint or Task; `*` stands for any characters.
        name: String = "*".to_owned() => pattern("Name"),
        /// Share of good requests or runs, percent.
        objective_percent: f64 = 99.9 => objective(),
        /// Requests or runs of an hour below which nothing is measured.
        min_requests: f64 = 50.0 => count("Calls an hour at least"),
    }
}
keys! {
    /// `drops`: the server refuses requests or drops records of the project.
    Drops {
        /// Requests and records.
        threshold_count: f64 = 1.0 => positive("Requests and records"),
        /// Minutes that are measured.
        lookback_minutes: i64 = 5 => lookback(),
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
            inverted: false,
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
