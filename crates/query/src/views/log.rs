//! Logs: the list and its histogram.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AttributeMap;
use super::explain::ExplainEntity;
use super::page::{OrderBy, PageRequest, SortDirection, TrendPoint};
use super::rows;
use super::span::ProjectName;

/// One log record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// Project of the record.
    pub project: ProjectName,
    /// Id computed from the record's content, equal in every response.
    #[schema(format = "uuid")]
    pub id: String,
    /// Time of the record.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Time at which the record was observed; empty when absent.
    pub observed_timestamp: String,
    /// Severity in upper case; empty when unknown.
    pub severity_text: String,
    /// OTLP severity number, 0 to 24; 0 when unknown.
    pub severity_number: u8,
    /// `service.name` of the resource; empty when absent.
    pub service_name: String,
    /// The body: a string, or JSON of any other value.
    pub body: String,
    /// Trace id; empty when absent.
    pub trace_id: String,
    /// Span id; empty when absent.
    pub span_id: String,
    /// Attributes of the resource.
    pub resource_attributes: AttributeMap,
    /// Name of the instrumentation scope.
    pub scope_name: String,
    /// Attributes of the instrumentation scope.
    pub scope_attributes: AttributeMap,
    /// Attributes of the record.
    pub log_attributes: AttributeMap,
    /// Name of the event; empty when absent.
    pub event_name: String,
}

/// Where an attribute of a log record is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogScope {
    /// In the resource.
    Resource,
    /// In the instrumentation scope.
    Scope,
    /// In the record.
    Log,
    /// In the record, its scope and its resource.
    #[default]
    Any,
}

/// Selects records whose attribute equals a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LogAttributeFilter {
    /// Where the attribute is looked up; `any` when absent.
    #[serde(default)]
    pub scope: LogScope,
    /// Key of the attribute.
    pub key: String,
    /// The value as a string.
    pub value: String,
}

/// Kind of a search in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogSearch {
    /// The body contains `search`.
    #[default]
    Body,
    /// An attribute value of the record, its scope or its resource contains `search`.
    Attribute,
}

/// Orders of log records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogOrder {
    /// By time.
    #[default]
    Timestamp,
}

/// Body of `POST /api/logs` and `POST /api/logs/histogram`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LogListRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `timestamp`.
    #[schema(value_type = Option<LogOrder>)]
    pub order_by: OrderBy<LogOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// Substring, ASCII case ignored. A body search over more than 24 hours needs a service, a trace, a severity or an
    /// attribute filter (422).
    pub search: Option<String>,
    /// Kind of the search; `body` when absent.
    pub search_type: LogSearch,
    /// Minimum OTLP severity number; 0 or null: all records.
    #[schema(minimum = 0, maximum = 24)]
    pub min_severity: Option<u8>,
    /// Only records of this service; all when null.
    pub service_name: Option<String>,
    /// Only records of this trace: 32 hexadecimal digits, dashes allowed.
    pub trace_id: Option<String>,
    /// Only records of this span: 16 hexadecimal digits.
    pub span_id: Option<String>,
    /// Only records of this distributed trace: the trace with this id, and those that it is linked with
    /// (`POST /api/distributed-traces/{traceId}`). An id like that of `traceId`.
    pub distributed_trace_id: Option<String>,
    /// Exclude records of this trace.
    pub exclude_trace_id: Option<String>,
    /// With `traceId` or `distributedTraceId`: records of every project that the user can open. 422 without them. Ignored by the
    /// histogram.
    pub all_projects: bool,
    /// Only records with a trace id and a span id, as in the Logs tab of a trace.
    pub linked_only: bool,
    /// Conditions that must all be met; at most 20.
    pub attribute_filters: Vec<LogAttributeFilter>,
    /// Query in the query language, combined with the other conditions; a text that is no query is 400 with its
    /// `position`. A search of the body only is bounded like `search`.
    pub query: Option<String>,
    /// The page; the first 20 records when null.
    pub pagination: Option<PageRequest>,
}

/// A pattern of log records.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogPattern {
    /// Common part of the bodies: `<num>`, `<id>`, `<hex>` and `<ip>` are variables, `<*>` is any word.
    pub pattern: String,
    /// Query in the query language that finds the records.
    pub query: String,
    /// Number of records; estimated if the answer is.
    pub count: u64,
    /// Share of all records, 0 to 1.
    pub share: f64,
    /// Time of the first record that was read.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// Time of the last record that was read.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Number of records by severity text; "" when unknown.
    pub severities: BTreeMap<String, u64>,
    /// The most frequent severity text.
    pub severity_text: String,
    /// A severity number of that text.
    pub severity_number: u8,
    /// The services of the records that were read, by name; at most 5.
    pub services: Vec<String>,
    /// The body of one record, cut when it is long.
    pub example: String,
    /// Number of records over time.
    pub trend: Vec<TrendPoint>,
}

/// `POST /api/logs/patterns`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogPatterns {
    /// The most frequent patterns.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<LogPattern>,
    /// Number of records that pass the filters; estimated if the answer is.
    pub records: u64,
    /// Number of records that were read.
    pub read: u64,
    /// Whether fewer records were read than pass the filters: counts are estimated.
    pub estimated: bool,
    /// Number of records of patterns that are not listed.
    pub others: u64,
    /// Number of patterns that are not listed, as far as they are distinguished.
    pub more: u64,
}

/// Body of `POST /api/logs/around`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LogAroundRequest {
    /// `id` of the record.
    #[schema(format = "uuid")]
    pub id: String,
    /// `timestamp` of the record.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// `serviceName` of the record.
    pub service_name: String,
    /// Only records with the `service.instance.id` of the record, if it has one.
    pub same_instance: bool,
    /// Number of records before and after it, each; 20 when null.
    #[schema(minimum = 1, maximum = 100)]
    pub count: Option<usize>,
}

impl Default for LogAroundRequest {
    fn default() -> LogAroundRequest {
        let (id, timestamp, service_name) = Default::default();
        LogAroundRequest { id, timestamp, service_name, same_instance: true, count: None }
    }
}

/// The records around one, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogAround {
    /// The records before it, the latest last.
    #[serde(serialize_with = "rows::cut")]
    pub before: Vec<LogView>,
    /// The record.
    pub record: LogView,
    /// The records after it, the earliest first.
    #[serde(serialize_with = "rows::cut")]
    pub after: Vec<LogView>,
    /// Whether there are earlier records, within 31 days.
    pub more_before: bool,
    /// Whether there are later records, within 31 days.
    pub more_after: bool,
    /// The `service.instance.id` of all these records; null when they are of the whole service.
    pub instance: Option<String>,
}

/// An event of a live tail.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LiveLogs {
    /// Records that were stored since the previous event, by time, the latest last.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<LogView>,
    /// Records that pass the query and are left out, because there were more than one event holds.
    pub skipped: u64,
    /// Records that the query was not evaluated on, because they came faster than they were read.
    pub missed: u64,
}

/// One bucket of the histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogBucket {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Number of records by severity text; "" when unknown.
    pub counts: BTreeMap<String, u64>,
}

/// Log records of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ServiceCount {
    /// Name of the service.
    pub name: String,
    /// Number of records.
    pub count: u64,
}

/// `POST /api/logs/histogram`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogHistogram {
    /// Buckets with at least one record, by time.
    pub buckets: Vec<LogBucket>,
    /// Width of a bucket in minutes.
    pub interval_minutes: i64,
    /// Services by number of records, descending; at most 200.
    pub services: Vec<ServiceCount>,
}

/// `POST /api/logs/of-entity`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntityLogsRequest {
    /// Kind of the rows: `endpoint`, `task`, `ai_trace` or `trace`.
    pub entity: ExplainEntity,
    /// Only rows of this name; of every name when absent or empty.
    #[serde(default)]
    pub name: Option<String>,
    /// Start of the range of the rows, inclusive; 24 hours before `toDate` when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the range of the rows, exclusive; now when absent.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Only rows that pass this query, which is about the rows, not about the records.
    #[serde(default)]
    pub query: Option<String>,
    /// Records in the answer, 1 to 100; 20 when absent.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// The latest records in the traces of an Endpoint, Task or AI Trace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntityLogs {
    /// Records, the latest first.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<LogView>,
    /// Number of records in the traces that were searched.
    pub total: u64,
    /// Number of rows that pass.
    pub rows: u64,
    /// Rows whose traces were searched: the latest, at most 1,000.
    pub searched: u64,
}
