//! Completion of queries, and facets of lists.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::rows;

/// Kinds of rows that queries select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Spans.
    Span,
    /// Log records.
    Log,
    /// Occurrences of Issues.
    Issue,
    /// Endpoints: inbound HTTP requests.
    Endpoint,
    /// Tasks: runs of background work.
    Task,
    /// AI Traces: calls of models and runs of their tools.
    AiTrace,
    /// States of sessions.
    Session,
}

/// Body of `POST /api/query/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompleteRequest {
    /// Kind of the rows that the query selects.
    pub rows: RowKind,
    /// Field whose values are wanted; the names of fields when null.
    #[serde(default)]
    #[schema(default = json!(null))]
    pub field: Option<String>,
    /// Typed part of the name or value: strings that contain it are returned, any case of letters.
    #[serde(default)]
    #[schema(default = "")]
    pub prefix: String,
    /// Only rows that meet this query count.
    #[serde(default)]
    #[schema(default = json!(null))]
    pub query: Option<String>,
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[serde(default)]
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[serde(default)]
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
}

/// A name of a field, or a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Completion {
    /// The text, without quotes.
    pub text: String,
    /// Number of rows that have it; null for fields that are not attributes.
    #[schema(required)]
    pub count: Option<u64>,
    /// Meaning of a field; null for attributes and values.
    #[schema(required)]
    pub doc: Option<String>,
}

/// `POST /api/query/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Completions {
    /// Strings that begin with the prefix, then those that contain it; the most frequent first in each group. At most 50.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<Completion>,
    /// Counts are estimated from a sample of the range, from which rare values may be missing.
    pub estimated: bool,
}

/// Body of `POST /api/query/facets`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacetsRequest {
    /// Kind of the rows.
    pub rows: RowKind,
    /// Fields to count the values of, at most 16; the usual ones of the kind and the most frequent attributes of few
    /// values when empty.
    #[serde(default)]
    #[schema(default = json!([]))]
    pub fields: Vec<String>,
    /// Only rows that meet this query count.
    #[serde(default)]
    #[schema(default = json!(null))]
    pub query: Option<String>,
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[serde(default)]
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[serde(default)]
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
}

/// A value and the number of rows that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CountedValue {
    /// The value as text.
    pub value: String,
    /// Number of rows.
    pub count: u64,
}

/// The most frequent values of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Facet {
    /// Name of the field.
    pub field: String,
    /// Its most frequent values, most frequent first; at most 10.
    #[serde(serialize_with = "rows::cut")]
    pub values: Vec<CountedValue>,
    /// The field has further values.
    pub more: bool,
}

/// `POST /api/query/facets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Facets {
    /// One facet per field, in the order of the request.
    pub data: Vec<Facet>,
    /// Number of rows that meet the query.
    pub rows: u64,
    /// Counts are estimated from a sample of the range, from which rare values may be missing.
    pub estimated: bool,
}
