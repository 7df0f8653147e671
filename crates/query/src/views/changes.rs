//! Changes for the worse.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/overview/changes`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChangesRequest {
    /// Changes that ended before are left out; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// The time of evaluation: changes are those known then. Now when null. Must not be before `fromDate` (422).
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
}

/// Metric that got worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// An Endpoint.
    Endpoint,
    /// A Task.
    Task,
    /// Model calls of one name.
    AiTrace,
    /// An Issue.
    Issue,
    /// A service that no longer sends.
    Service,
}

/// The unit of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectMetric {
    /// Median duration, milliseconds.
    P50,
    /// Duration that a tenth of the calls exceeds, milliseconds.
    P90,
    /// Share of the calls that take longer than hardly any did, 0 to 1.
    SlowShare,
    /// Failed share of the calls, 0 to 1.
    ErrorRate,
    /// Share of the calls that are answered with a status of 400 to 499 and did not fail, 0 to 1.
    RefusedShare,
    /// Calls a minute.
    Calls,
    /// US dollars a call.
    Cost,
}

/// One value of a subject that got worse.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// Metric of the effect.
    pub metric: EffectMetric,
    /// Usual value.
    pub before: f64,
    /// Value since the change.
    pub after: f64,
    /// Start of this effect.
    #[schema(format = DateTime)]
    pub since: String,
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SentencePart {
    /// Its text; of a time, the time of day in UTC.
    pub text: String,
    /// The time, a full minute; absent for other text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub at: Option<String>,
}

/// Relation of a version to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VersionRelation {
    /// It is worse than older versions in the same minutes.
    Carries,
    /// The change began when it went live, and no older version ran beside it.
    BeganWith,
}

/// One subject that got worse.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeCard {
    /// The kind of the subject.
    pub kind: ChangeKind,
    /// Its name; of an Issue its title.
    pub name: String,
    /// Hash of the Issue; null for other kinds.
    pub exception_hash: Option<String>,
    /// Service that most calls came from; empty when unknown.
    pub service: String,
    /// Start of the change, a full minute.
    #[schema(format = DateTime)]
    pub since: String,
    /// Whether `since` is certain within five minutes.
    pub since_exact: bool,
    /// The version that carries the change or began with it; null when none is named.
    pub version: Option<String>,
    /// Relation of the version to the change; null without a version.
    pub version_relation: Option<VersionRelation>,
    /// The change in one sentence. Times of day are UTC.
    pub sentence: String,
    /// The sentence in parts, of which those with a time are written in the zone of the reader.
    pub sentence_parts: Vec<SentencePart>,
    /// Calls an hour that the change affects, weighted by its severity.
    pub score: f64,
    /// The values that got worse, the most harmful first; empty for an Issue.
    pub effects: Vec<Effect>,
    /// Calls slower than this are slower than usual, milliseconds; null when durations did not change.
    pub slow_ms: Option<f64>,
    /// New Issues of the subject that began with the change.
    pub new_issues: Vec<String>,
    /// Subjects that got worse because of this one: they call it, or it calls them more often. They have no cards of their
    /// own.
    pub suffering: Vec<String>,
    /// When the subject was ordinary again; null while it is not.
    #[schema(format = DateTime)]
    pub recovered: Option<String>,
}

/// Response of `POST /api/overview/changes`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// The most harmful first; empty when nothing got worse.
    pub data: Vec<ChangeCard>,
    /// Subjects that were checked.
    pub checked: u64,
    /// Subjects with less than one call in two minutes: only large changes of them are seen.
    pub quiet: u64,
}
