//! Logs: the list and its histogram.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AttributeMap;
use super::page::{OrderBy, PageRequest, SortDirection};
use super::span::ProjectName;

/// One log record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// The project that it was sent to.
    pub project: ProjectName,
    /// Made from the record's content, so that it stays the same between requests.
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Empty when absent.
    pub observed_timestamp: String,
    /// Upper case; empty when unknown.
    pub severity_text: String,
    /// OTLP number, 0 to 24.
    pub severity_number: u8,
    pub service_name: String,
    /// Text, or JSON of any other value.
    pub body: String,
    /// Empty when absent.
    pub trace_id: String,
    /// Empty when absent.
    pub span_id: String,
    pub resource_attributes: AttributeMap,
    pub scope_name: String,
    pub scope_attributes: AttributeMap,
    pub log_attributes: AttributeMap,
    pub event_name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogScope {
    Resource,
    Scope,
    Log,
    /// The record's own, its scope's or its resource's.
    #[default]
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LogAttributeFilter {
    #[serde(default)]
    pub scope: LogScope,
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogSearch {
    /// `search` is part of the body.
    #[default]
    Body,
    /// `search` is part of the value of one of the record's own attributes.
    Attribute,
}

/// What log records can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogOrder {
    #[default]
    Timestamp,
}

/// Body of `POST /api/logs` and `POST /api/logs/histogram`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LogListRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `timestamp`.
    #[schema(value_type = Option<LogOrder>)]
    pub order_by: OrderBy<LogOrder>,
    pub sort_direction: Option<SortDirection>,
    /// In any case. Over more than 24 hours it needs a service, a trace, a severity or an attribute filter (422).
    pub search: Option<String>,
    pub search_type: LogSearch,
    /// OTLP number: this and above.
    #[schema(minimum = 0, maximum = 24)]
    pub min_severity: Option<u8>,
    pub service_name: Option<String>,
    /// 32 hexadecimal digits, dashes allowed.
    pub trace_id: Option<String>,
    /// 16 hexadecimal digits.
    pub span_id: Option<String>,
    /// Leave the records of this trace out.
    pub exclude_trace_id: Option<String>,
    /// With `traceId`: the records of every project that the caller may open. 422 without one. Ignored by the histogram.
    pub all_projects: bool,
    /// Only records that carry a trace id and a span id: the Logs tab of a trace.
    pub linked_only: bool,
    /// All must hold; at most 20.
    pub attribute_filters: Vec<LogAttributeFilter>,
    pub pagination: Option<PageRequest>,
}

/// One bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogBucket {
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Records by severity text ("" when unknown).
    pub counts: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ServiceCount {
    pub name: String,
    pub count: u64,
}

/// `POST /api/logs/histogram`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogHistogram {
    /// Buckets with a record, by time.
    pub buckets: Vec<LogBucket>,
    pub interval_minutes: i64,
    /// Most records first; at most 200.
    pub services: Vec<ServiceCount>,
}
