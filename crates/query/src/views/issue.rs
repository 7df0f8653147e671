//! Issues: groups of exceptions, their occurrences.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AttributeMap;
use super::page::{OrderBy, PageInfo, PageRequest, SortDirection, TrendPoint};
use super::rows;
use super::span::TraceType;
use super::triage::{IssueDecisionView, IssuePerson, IssueRegression, IssueState};

/// Kinds of owners. The owner of an exception is the nearest Endpoint or Task at or above its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerType {
    /// An Endpoint.
    Endpoint,
    /// A Task.
    Task,
}

/// Orders of Issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueOrder {
    /// By the latest occurrence.
    #[default]
    LastSeen,
    /// By the first occurrence.
    FirstSeen,
    /// By the number of occurrences.
    Count,
    /// By the number of users in the range.
    Users,
    /// By the first occurrence of all time.
    Newness,
}

/// Body of `POST /api/exception-stack-traces`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IssueListRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `last_seen` (default), `first_seen`, `count`, `users` or `newness`.
    #[schema(value_type = Option<IssueOrder>)]
    pub order_by: OrderBy<IssueOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// Substring of the type, message or stack trace, ASCII case ignored; or a whole hash.
    pub search: Option<String>,
    /// `all` (default), `issues` (exceptions) or `messages` (captured messages of native reports).
    pub search_type: Option<String>,
    /// Query in the query language, of occurrences, which are counted only if they match; combined with the other conditions; a text that is no query is 400 with its
    /// `position`. At most 4,096 bytes.
    pub query: Option<String>,
    /// Include Issues of every state; used when `states` is null.
    pub include_archived: bool,
    /// Only Issues in one of these states; `open` and `regressed` when null.
    pub states: Option<Vec<IssueState>>,
    /// Only Issues that are assigned to the user with this id; 0: to nobody; null: any.
    pub assignee_id: Option<i64>,
    /// The page; the first 20 Issues when null.
    pub pagination: Option<PageRequest>,
}

/// An Issue: the exceptions of one normalized stack trace. Counts are weighted by sampling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueGroup {
    /// Hash of the normalized stack trace: 16 hexadecimal digits.
    pub exception_hash: String,
    /// Stack trace of the latest occurrence.
    pub stack_trace: String,
    /// Title of the Issue.
    pub title: String,
    /// Exception type of the latest occurrence; empty when absent.
    pub exception_type: String,
    /// Message of the latest occurrence; empty when absent.
    pub message: String,
    /// Number of occurrences in the range.
    pub count: u64,
    /// Number of stored rows that `count` is estimated from; equal to `count` without sampling.
    pub stored_count: u64,
    /// Number of distinct users of the occurrences in the range. The user is the first of the attributes `user.id`,
    /// `enduser.id` and `client.address` that an occurrence has. Null when there are more than a million.
    #[schema(required)]
    pub users: Option<u64>,
    /// Time of the first occurrence in the range.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// Time of the latest occurrence in the range.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Time of the first stored occurrence, also before the range.
    #[schema(format = DateTime)]
    pub first_occurrence: String,
    /// Version of the first stored occurrence with a version; empty without one.
    pub first_version: String,
    /// Version of the latest stored occurrence with a version; empty without one.
    pub last_version: String,
    /// Occurrences per hour, or per number of hours for which 168 points cover the range; zeros included.
    pub hourly_trend: Vec<TrendPoint>,
    /// Whether it is a captured message of a native report instead of exceptions.
    pub is_message: bool,
    /// Whether `state` is `archived`.
    pub archived: bool,
    /// The state now.
    pub state: IssueState,
    /// The latest decision of a user, also when it no longer holds; null without one.
    #[schema(required)]
    pub decision: Option<IssueDecisionView>,
    /// The user who works on it; null without one.
    #[schema(required)]
    pub assignee: Option<IssuePerson>,
    /// Other hashes whose occurrences are counted here.
    pub merged_hashes: Vec<String>,
    /// Kind of the latest occurrence's owner; null without an owner.
    #[schema(required)]
    pub owner_type: Option<OwnerType>,
    /// Name of the latest occurrence's owner; empty without an owner.
    pub owner_name: String,
}

/// One recorded exception.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// Row id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Hash of the normalized stack trace: 16 hexadecimal digits.
    pub exception_hash: String,
    /// Stack trace, with symbols where they are available.
    pub stack_trace: String,
    /// Stack trace as sent; null unless symbolication changed it.
    #[schema(required)]
    pub raw_stack_trace: Option<String>,
    /// `exception.type`; empty when absent.
    pub exception_type: String,
    /// `exception.message`; empty when absent.
    pub message: String,
    /// Time of the exception.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Trace id; empty when absent.
    pub trace_id: String,
    /// Id of the exception's span; empty when absent.
    pub span_id: String,
    /// Kind of the owner: `endpoint` or `task`; empty without an owner.
    pub trace_type: String,
    /// `service.name` of the resource; empty when absent.
    pub server_name: String,
    /// Version of the application; empty when unknown.
    pub app_version: String,
    /// Whether it is a captured message of a native report instead of an exception.
    pub is_message: bool,
    /// Whether it has a recording of its own: `GET /api/exception-stack-traces/by-id/{id}/recording`.
    pub has_recording: bool,
    /// UUID of its session; empty without one.
    pub session_id: String,
    /// Attributes of the span or log record, overridden by those of the exception event.
    pub attributes: AttributeMap,
    /// Kind of the owner; null without an owner.
    #[schema(required)]
    pub owner_type: Option<OwnerType>,
    /// Name of the owner; empty without an owner.
    pub owner_name: String,
    /// Row id of the owner; empty without an owner.
    pub owner_id: String,
}

/// Summary of an exception, on the page of its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionBrief {
    /// Hash of the normalized stack trace: 16 hexadecimal digits.
    pub exception_hash: String,
    /// Stack trace, with symbols where they are available.
    pub stack_trace: String,
    /// Time of the exception.
    #[schema(format = DateTime)]
    pub recorded_at: String,
}

/// The Endpoint or Task that owns an occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelatedEntity {
    /// Kind of the entity.
    pub trace_type: TraceType,
    /// Row id of the entity.
    #[schema(format = "uuid")]
    pub id: String,
    /// Name of the entity.
    pub name: String,
    /// HTTP status; 0 when absent.
    pub status_code: i32,
    /// Duration in nanoseconds.
    pub duration: i64,
    /// Start of the entity's span.
    #[schema(format = DateTime)]
    pub recorded_at: String,
    /// Trace id.
    pub trace_id: String,
}

/// Body of `POST /api/exception-stack-traces/{hash}`. Without both bounds, the range is all time.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IssueDetailRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when only this is null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when only this is null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// The page of occurrences; the first 20 when null.
    pub pagination: Option<PageRequest>,
    /// Do not count `tags`, which reads all occurrences.
    pub without_tags: bool,
}

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagValue {
    /// The value.
    pub value: String,
    /// Number of occurrences with the value.
    pub count: u64,
}

/// Distribution of the values of one attribute over the occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagDistribution {
    /// Key of the attribute.
    pub key: String,
    /// The most frequent values first, at most ten.
    pub values: Vec<TagValue>,
    /// Number of distinct values, including those not in `values`; at least, if `partial`.
    pub distinct: u64,
    /// Number of occurrences with the attribute.
    pub count: u64,
    /// Whether there were too many values to count each one. Those in `values` are counted exactly.
    pub partial: bool,
}

/// The parts of an exception that its Issue is grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueGrouping {
    /// The basis in words.
    pub basis: String,
    /// Version of the rule that grouped the occurrence.
    pub version: u8,
    /// The parts that count, in order: at most 100, of at most 500 characters.
    pub components: Vec<String>,
    /// The parts that do not count, in order: at most 100, of at most 500 characters.
    pub left_out: Vec<String>,
    /// Other hashes of the Issue, at most 100.
    pub hashes: Vec<IssueHash>,
}

/// Another hash of an Issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueHash {
    /// 16 hexadecimal digits.
    pub exception_hash: String,
    /// Cause of its belonging to the Issue.
    pub cause: IssueHashCause,
    /// Of `rule`: the version; null for other causes.
    #[schema(required)]
    pub rule_version: Option<u8>,
}

/// Cause of the belonging of a hash to an Issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueHashCause {
    /// A user merged it.
    Merge,
    /// A version of the grouping rule joined it.
    Rule,
}

/// `POST /api/exception-stack-traces/{hash}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueDetail {
    /// The Issue.
    pub group: IssueGroup,
    /// Grouping of the latest occurrence on this page; null when the page has none.
    #[schema(required)]
    pub grouping: Option<IssueGrouping>,
    /// Occurrences of this page, latest first.
    #[serde(serialize_with = "rows::cut")]
    pub occurrences: Vec<Occurrence>,
    /// Position of this page in the occurrences.
    pub pagination: PageInfo,
    /// The owner of the latest occurrence on this page; absent without an owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_entity: Option<RelatedEntity>,
    /// Commit that the latest occurrence on this page ran: `vcs.ref.head.revision` of the occurrence or of its resource,
    /// or the commit of a reported deploy of its version; empty when unknown.
    pub commit: String,
    /// The occurrence that ended the resolution; null unless the state is `regressed`.
    #[schema(required)]
    pub regression: Option<IssueRegression>,
    /// Distributions over all occurrences in the range: service, version, then attributes by key.
    #[serde(serialize_with = "rows::cut")]
    pub tags: Vec<TagDistribution>,
    /// Number of occurrences in `tags`.
    pub tagged_count: u64,
    /// Number of stored rows that `tagged_count` is estimated from; equal to it without sampling.
    pub tagged_stored_count: u64,
}

/// `POST /api/exception-stack-traces/by-id/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OccurrenceDetail {
    /// The occurrence.
    pub exception: Occurrence,
    /// Its owner; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_entity: Option<RelatedEntity>,
}
