//! Issues: groups of exceptions, their occurrences, what to do with them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AttributeMap;
use super::page::{OrderBy, PageInfo, PageRequest, SortDirection, TrendPoint};
use super::span::TraceType;

/// What owns an exception: the nearest of these above its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerType {
    Endpoint,
    Task,
}

/// What Issues can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueOrder {
    #[default]
    LastSeen,
    FirstSeen,
    Count,
}

/// Body of `POST /api/exception-stack-traces`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IssueListRequest {
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `last_seen` (default), `first_seen` or `count`.
    #[schema(value_type = Option<IssueOrder>)]
    pub order_by: OrderBy<IssueOrder>,
    pub sort_direction: Option<SortDirection>,
    /// Part of the type, message or stack trace, in any case; or a whole hash.
    pub search: Option<String>,
    /// `all` (default), `issues` or `messages` (OTLP brings no messages).
    pub search_type: Option<String>,
    pub include_archived: bool,
    pub pagination: Option<PageRequest>,
}

/// An Issue: all exceptions of one normalised stack trace. Counts are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueGroup {
    /// 16 hexadecimal digits.
    pub exception_hash: String,
    /// Of the latest occurrence.
    pub stack_trace: String,
    pub title: String,
    pub exception_type: String,
    pub message: String,
    pub count: u64,
    /// In the range asked for.
    #[schema(format = DateTime)]
    pub first_seen: String,
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// One point per hour, or per whole number of hours so that at most 168 points cover the range; zeros included.
    pub hourly_trend: Vec<TrendPoint>,
    pub archived: bool,
    /// Owner of the latest occurrence; null when nobody owns it.
    #[schema(required)]
    pub owner_type: Option<OwnerType>,
    pub owner_name: String,
}

/// One exception.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    #[schema(format = "uuid")]
    pub id: String,
    pub exception_hash: String,
    pub stack_trace: String,
    /// As it was sent, where symbols changed it.
    #[schema(required)]
    pub raw_stack_trace: Option<String>,
    pub exception_type: String,
    pub message: String,
    #[schema(format = DateTime)]
    pub recorded_at: String,
    pub trace_id: String,
    pub span_id: String,
    /// `endpoint`, `task` or empty: the kind of the owner.
    pub trace_type: String,
    pub server_name: String,
    pub app_version: String,
    /// Always false over OTLP.
    pub is_message: bool,
    /// The span's attributes, the event's on top.
    pub attributes: AttributeMap,
    #[schema(required)]
    pub owner_type: Option<OwnerType>,
    pub owner_name: String,
    /// Row id of the owner; empty when nobody owns it.
    pub owner_id: String,
}

/// An exception in short, on the page of its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionBrief {
    pub exception_hash: String,
    pub stack_trace: String,
    #[schema(format = DateTime)]
    pub recorded_at: String,
}

/// The Endpoint or Task that owns an occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelatedEntity {
    pub trace_type: TraceType,
    #[schema(format = "uuid")]
    pub id: String,
    pub name: String,
    pub status_code: i32,
    /// Nanoseconds.
    pub duration: i64,
    #[schema(format = DateTime)]
    pub recorded_at: String,
    pub trace_id: String,
}

/// Body of `POST /api/exception-stack-traces/{hash}`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IssueDetailRequest {
    /// Without a range: all time.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    pub pagination: Option<PageRequest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagValue {
    pub value: String,
    pub count: u64,
}

/// How the values of one attribute are spread over the occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagDistribution {
    pub key: String,
    /// Most frequent first; at most ten.
    pub values: Vec<TagValue>,
    /// Values there are, with those that `values` leaves out.
    pub distinct: u64,
    /// Occurrences that have one of them.
    pub count: u64,
}

/// `POST /api/exception-stack-traces/{hash}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueDetail {
    pub group: IssueGroup,
    /// Latest first.
    pub occurrences: Vec<Occurrence>,
    pub pagination: PageInfo,
    /// The owner of the latest occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_entity: Option<RelatedEntity>,
    /// Over the latest 1000 occurrences; service and version first, then attributes by name.
    pub tags: Vec<TagDistribution>,
    /// Occurrences that `tags` is about: what its counts are shares of.
    pub tagged_count: u64,
}

/// `POST /api/exception-stack-traces/by-id/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OccurrenceDetail {
    pub exception: Occurrence,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_entity: Option<RelatedEntity>,
}

/// Body of archive and unarchive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct HashesRequest {
    /// At most 1000, 16 hexadecimal digits each.
    pub hashes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Archived {
    pub archived: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unarchived {
    pub unarchived: u64,
}
