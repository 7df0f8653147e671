//! Fields of the configurations of rules: their words and bounds.

use serde_json::Value;
use tidewatch_limits as limits;
use tidewatch_query::language::RowKind;
use tidewatch_query::views::metrics::Aggregation;

use super::values::{DataType, Operator, QueryMeasure, SloKind, SubjectKind};
use crate::fields::{ConfigField, FieldKind, FieldOption, options};

/// Minutes that a rule may measure: a day.
pub(super) const LOOKBACK_MAX: i64 = 24 * 60;
/// Patterns, terms and ids of one rule.
const LIST_MAX: usize = 100;
/// Characters of a name or a pattern.
const NAME_MAX: usize = 500;
/// Greatest number of requests or runs.
const COUNT_MAX: f64 = 1e12;
const PATTERN_HINT: &str = "* stands for any characters.";

pub(super) fn percent(label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Number, label).unit("%").above(0.0).at_most(100.0)
}

pub(super) fn positive(label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Number, label).above(0.0)
}

pub(super) fn milliseconds(label: &'static str) -> ConfigField {
    positive(label).unit("ms")
}

pub(super) fn dollars(label: &'static str) -> ConfigField {
    positive(label).unit("USD")
}

pub(super) fn number(label: &'static str, least: f64, most: f64) -> ConfigField {
    ConfigField::new(FieldKind::Number, label).at_least(least).at_most(most)
}

/// Records below which nothing is measured.
pub(super) fn count(label: &'static str) -> ConfigField {
    number(label, 0.0, COUNT_MAX)
}

/// A number in the unit of the measure.
pub(super) fn threshold() -> ConfigField {
    ConfigField::new(FieldKind::Number, "Threshold")
}

pub(super) fn minutes(label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Integer, label).unit("minutes").within(1..=LOOKBACK_MAX)
}

pub(super) fn lookback() -> ConfigField {
    minutes("Measured over")
}

pub(super) fn name(label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::String, label).required().max_length(NAME_MAX)
}

/// A name in which `*` stands for any characters.
pub(super) fn pattern(label: &'static str) -> ConfigField {
    name(label).hint(PATTERN_HINT)
}

pub(super) fn strings(label: &'static str) -> ConfigField {
    ConfigField::new(FieldKind::Strings, label).max_items(LIST_MAX).max_length(NAME_MAX)
}

pub(super) fn operator() -> ConfigField {
    ConfigField::choice(
        "Fires when it",
        options(&[
            (Operator::Gt, "is above"),
            (Operator::Gte, "is at least"),
            (Operator::Lt, "is below"),
            (Operator::Lte, "is at most"),
            (Operator::Eq, "equals"),
        ]),
    )
}

/// Functions that combine the points of a metric.
pub(super) fn aggregation(more: &[(Aggregation, &'static str)]) -> ConfigField {
    let of_all = [
        (Aggregation::Avg, "avg"),
        (Aggregation::Max, "max"),
        (Aggregation::Min, "min"),
        (Aggregation::Sum, "sum"),
        (Aggregation::P95, "p95"),
        (Aggregation::P99, "p99"),
        (Aggregation::Last, "last"),
    ];
    ConfigField::choice("Combined by", options(&[&of_all, more].concat()))
}

/// Kinds of the rows of a search.
const ROWS: [(RowKind, &str); 7] = [
    (RowKind::Endpoint, "Endpoints"),
    (RowKind::Task, "Tasks"),
    (RowKind::AiTrace, "AI traces"),
    (RowKind::Issue, "Exceptions"),
    (RowKind::Log, "Logs"),
    (RowKind::Span, "Spans"),
    (RowKind::Session, "Sessions"),
];

/// Rows that are searched, or a metric.
pub(super) fn rows() -> ConfigField {
    let metric = FieldOption { value: Value::Null, label: "A metric" };
    let rows = ConfigField::choice("Rows", options(&ROWS).into_iter().chain([metric]).collect());
    rows.suggested(RowKind::Endpoint)
}

pub(super) fn of_rows(field: ConfigField) -> ConfigField {
    field.when("rows", &ROWS.map(|(kind, _)| kind))
}

pub(super) fn of_metric(field: ConfigField) -> ConfigField {
    field.when("rows", &[Value::Null])
}

pub(super) fn measure() -> ConfigField {
    ConfigField::choice(
        "Measured",
        options(&[
            (QueryMeasure::Count, "Number of rows"),
            (QueryMeasure::ErrorRate, "Failed share, %"),
            (QueryMeasure::P50, "P50 of durations, ms"),
            (QueryMeasure::P95, "P95 of durations, ms"),
            (QueryMeasure::P99, "P99 of durations, ms"),
        ]),
    )
}

/// Functions that combine the points of a metric in a query: all of them.
pub(super) fn aggregation_of_query() -> ConfigField {
    aggregation(&[(Aggregation::P50, "p50"), (Aggregation::Rate, "rate"), (Aggregation::Count, "count")])
}

/// Values by tag of a metric.
pub(super) fn tags() -> ConfigField {
    ConfigField::new(FieldKind::Map, "Tags").max_items(limits::METRICS_TAG_FILTERS_MAX).hidden()
}

pub(super) fn monitors() -> ConfigField {
    ConfigField::new(FieldKind::Monitors, "Monitors").max_items(LIST_MAX).hidden()
}

pub(super) fn data_type() -> ConfigField {
    ConfigField::choice(
        "Of",
        options(&[
            (DataType::Any, "Anything"),
            (DataType::Endpoints, "Endpoints"),
            (DataType::Tasks, "Tasks"),
            (DataType::Exceptions, "Exceptions"),
            (DataType::Metrics, "Metrics"),
        ]),
    )
}

/// Kinds of subjects that change.
pub(super) fn subjects() -> ConfigField {
    let kinds = options(&[
        (SubjectKind::Endpoint, "Endpoints"),
        (SubjectKind::Task, "Tasks"),
        (SubjectKind::AiTrace, "AI traces"),
        (SubjectKind::Issue, "Issues"),
        (SubjectKind::Service, "Services"),
    ]);
    ConfigField { options: kinds, ..ConfigField::new(FieldKind::Choices, "Of") }.hidden()
}

pub(super) fn objective_kind() -> ConfigField {
    ConfigField::choice("Of", options(&[(SloKind::Endpoint, "Endpoints"), (SloKind::Task, "Tasks")]))
}

/// Share of good requests or runs.
pub(super) fn objective() -> ConfigField {
    number("Objective: good ones", 50.0, 99.999).unit("%")
}

/// The hash of an Issue; `*`: any.
pub(super) fn issue() -> ConfigField {
    ConfigField::new(FieldKind::String, "Issue").required().hint("The hash of the issue; * is any issue.")
}

/// A query of the query language.
pub(super) fn query() -> ConfigField {
    ConfigField::new(FieldKind::String, "Query").hint("As in the search of the list.")
}

pub(super) fn ignored() -> ConfigField {
    strings("Ignored titles").hint("One per line: a part of the title, or a pattern with *.")
}

pub(super) fn terms() -> ConfigField {
    strings("Terms").hint("One per line; empty: any of the lists.")
}

/// Minutes before those that are measured.
pub(super) fn baseline_minutes() -> ConfigField {
    minutes("Compared with").unit("minutes before").within(1..=7 * LOOKBACK_MAX)
}

/// Hours before the minutes that are measured.
pub(super) fn baseline_hours() -> ConfigField {
    ConfigField::new(FieldKind::Integer, "Usual over").unit("hours").within(1..=7 * 24)
}
