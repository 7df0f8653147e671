//! Explanations of the difference between some rows and others.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Kinds of rows that can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainEntity {
    /// Requests of Endpoints; `name` is that of the Endpoint.
    Endpoint,
    /// Runs of Tasks; `name` is that of the Task.
    Task,
    /// AI Traces; `name` is theirs.
    AiTrace,
    /// Spans without a parent; `name` is theirs.
    Trace,
    /// Requests and runs with an exception of an Issue, against the others of their Endpoints or Tasks; `name` is the
    /// hash of the Issue, and `selection.query` selects among its exceptions.
    Issue,
    /// Log records; `name` is that of the service.
    Log,
}

/// The rows to explain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExplainSelection {
    /// The rows in the band: a query in the query language, such as `duration>300ms`, `status:error` or
    /// `output_tokens>600`. Without one, all rows of the selected time against those of an equal time before it.
    pub query: Option<String>,
    /// Start of the selected time, inclusive; that of the view when absent.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the selected time, exclusive; that of the view when absent.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
}

/// `POST /api/explain`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainRequest {
    /// Kind of the rows.
    pub entity: ExplainEntity,
    /// Only rows of this name; of every name when absent or empty.
    #[serde(default)]
    pub name: Option<String>,
    /// Start of the view, inclusive; 24 hours before `toDate` when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the view, exclusive; now when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Only rows that pass this query, selected or not.
    #[serde(default)]
    pub query: Option<String>,
    /// The rows to explain.
    #[serde(default)]
    pub selection: ExplainSelection,
    /// Milliseconds in which further spans are read; see `partial`.
    #[serde(default)]
    pub budget_ms: Option<u64>,
}

/// Where an attribute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainScope {
    /// On the row.
    Record,
    /// On its resource.
    Resource,
    /// On its instrumentation scope: `name`, `version`, or an attribute.
    Scope,
    /// On a span below it.
    Child,
}

/// Relation of an attribute to the value of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainRelation {
    /// It is equal; in the scope `child`, any span below has it.
    Equals,
    /// It is at least the number.
    AtLeast,
    /// It is less than the number.
    LessThan,
    /// The row lacks it; the value is null.
    Absent,
}

/// A condition on one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainCondition {
    /// Where the attribute is.
    pub scope: ExplainScope,
    /// Key of the attribute.
    pub attribute: String,
    /// Service of the spans; only in the scope `child`.
    pub service: Option<String>,
    /// Relation of the attribute to the value.
    pub relation: ExplainRelation,
    /// The value.
    pub value: Option<String>,
    /// The condition in the query language; null where the language has none.
    pub query: Option<String>,
}

/// Search that found a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainKind {
    /// It distinguishes the selection within its minutes.
    Condition,
    /// Two conditions together do.
    Pair,
    /// It began with the selection: the same minutes hold nothing to compare with.
    Began,
}

/// A condition that distinguishes the selection. A row explains what the rows above it do not.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainRow {
    /// The condition.
    #[serde(flatten)]
    pub condition: ExplainCondition,
    /// Search that found it.
    pub kind: ExplainKind,
    /// The second condition of a pair.
    pub and: Option<ExplainCondition>,
    /// Share of the selected rows that meet the condition, 0 to 1.
    pub selection_share: f64,
    /// Share of the other rows of the same minutes; with `began`, of the five minutes before.
    pub baseline_share: f64,
    /// Part of the selection that would vanish if these rows were like the others, 0 to 1.
    pub explained: f64,
    /// Score by which rows are sorted, nats.
    pub score: f64,
    /// Sampled rows of the selection that meet the condition.
    pub count: u32,
    /// Conditions that hold for the same rows.
    pub synonyms: Vec<ExplainCondition>,
}

/// The own time of an operation, the time in which no span below it runs, per row.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainOwnTime {
    /// Name of the spans; of clients the operation and its target.
    pub operation: String,
    /// Service of the spans.
    pub service: String,
    /// Milliseconds a row in the selected minutes; in the selection when there is no time before.
    pub selection_ms: f64,
    /// Milliseconds a row before the selected minutes; in the other rows when there is no time before.
    pub baseline_ms: f64,
    /// Added milliseconds a row.
    pub delta_ms: f64,
    /// Part of all added time, 0 to 1.
    pub share: f64,
}

/// A value of an attribute that tells how rows failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainFailure {
    /// Key of the attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// Sampled rows of the selection with it.
    pub count: u32,
    /// Operation of the deepest failed call below the rows, when the attribute is of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Service that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
}

/// Reason for which an attribute was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainLeftOutReason {
    /// It defines the selection.
    Selection,
    /// Every row has the same value.
    Constant,
    /// Nearly every row has a value of its own.
    Identifier,
    /// Its values are too long or too many.
    Limit,
}

/// An attribute that was not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainLeftOut {
    /// Where the attribute is.
    pub scope: ExplainScope,
    /// Key of the attribute.
    pub attribute: String,
    /// Reason for which it was not compared.
    pub reason: ExplainLeftOutReason,
}

/// Baseline with which the selection is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainMode {
    /// With what it would be if it were as before.
    Excess,
    /// With the other rows of the same minutes.
    SameMinutes,
    /// With the rows of an equal time before.
    TimeBefore,
}

/// Parts of the rows that were compared, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainRates {
    /// Of the selection.
    pub selected: f64,
    /// Of the others in the same minutes.
    pub rest: f64,
    /// Of the time before.
    pub before: f64,
}

/// Conditions that distinguish the selection.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// At most five rows, best first; empty when no attribute distinguishes the selection.
    pub data: Vec<ExplainRow>,
    /// Operations with at least a tenth of the added time, most first.
    pub own_time: Vec<ExplainOwnTime>,
    /// Whether more rows pass than were compared. The sample is uniform by trace id.
    pub sampled: bool,
    /// Number of selected rows.
    pub selected: u64,
    /// Number of the rows that they are compared with: the others of the same minutes.
    pub baseline: u64,
    /// Number of rows before the selected minutes.
    pub before: u64,
    /// Parts of the rows that were compared.
    pub sample_rates: ExplainRates,
    /// Baseline with which the selection is compared.
    pub mode: ExplainMode,
    /// Whether the time ended before the spans of every compared row were read. `budgetMs` gives more.
    pub partial: bool,
    /// Failures of the selected rows, most first; at most ten.
    pub what_failed: Vec<ExplainFailure>,
    /// Attributes that were not compared.
    pub left_out: Vec<ExplainLeftOut>,
}

/// `POST /api/breakdown`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakdownRequest {
    /// Kind of the rows; logs and Issues have no duration (422).
    pub entity: ExplainEntity,
    /// Only rows of this name; of every name when absent or empty.
    #[serde(default)]
    pub name: Option<String>,
    /// Start of the range, inclusive; 24 hours before `toDate` when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the range, exclusive; now when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Only rows that pass this query.
    #[serde(default)]
    pub query: Option<String>,
    /// Milliseconds in which further spans are read; see `partial`.
    #[serde(default)]
    pub budget_ms: Option<u64>,
}

/// The own time of an operation, the time in which no span below it runs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakdownOperation {
    /// Name of the spans; of clients the operation and its target.
    pub operation: String,
    /// Service of the spans; empty when they have none.
    pub service: String,
    /// Milliseconds a row; a row without the operation counts as 0.
    pub mean_ms: f64,
    /// Part of the time of the rows, 0 to 1.
    pub share: f64,
    /// Measured rows with the operation.
    pub rows: u32,
    /// A search of traces that finds the operation below such rows.
    pub query: String,
}

/// The own time of the spans of a service.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakdownService {
    /// Name of the service; empty when the spans have none.
    pub service: String,
    /// Milliseconds a row; a row without the service counts as 0.
    pub mean_ms: f64,
    /// Part of the time of the rows, 0 to 1.
    pub share: f64,
    /// Measured rows with the service.
    pub rows: u32,
}

/// Where the time of rows goes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Breakdown {
    /// Operations by own time, most first; at most fifty.
    pub data: Vec<BreakdownOperation>,
    /// Services by own time, most first; at most fifty.
    pub services: Vec<BreakdownService>,
    /// Milliseconds a row of all operations.
    pub mean_ms: f64,
    /// Milliseconds a row of operations that are not listed.
    pub rest_ms: f64,
    /// Number of rows that pass.
    pub rows: u64,
    /// Rows whose spans were measured: a uniform sample by trace id of at most 10,000.
    pub measured: u32,
    /// Whether the time ended before the spans of every sampled row were read. `budgetMs` gives more.
    pub partial: bool,
}
