//! Permanent problems, new subjects, and costs of AI.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/overview/answers`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AnswersRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime, default = json!(null))]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime, default = json!(null))]
    pub to_date: Option<String>,
}

/// An Endpoint whose requests fail or are slow, in the whole range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlwaysBad {
    /// Name of the Endpoint.
    pub name: String,
    /// Requests an hour that failed or took more than 1.5 s, and half of those that took 0.75 to 1.5 s. An accepted
    /// slow offset is added to both times. Null when there is telemetry of less than five minutes.
    #[schema(required)]
    pub bad_an_hour: Option<f64>,
    /// Requests of the range.
    pub count: u64,
    /// Stored rows that `count` is estimated from.
    pub stored_count: u64,
    /// Requests that failed with a status of 500 and above, or took more than 1.5 s.
    pub bad_count: u64,
    /// Requests that took 0.75 to 1.5 s.
    pub slow_count: u64,
}

/// The kind of something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewKind {
    /// An Issue.
    Issue,
    /// A service.
    Service,
    /// A version of a known service.
    Version,
    /// An Endpoint.
    Endpoint,
    /// A Task.
    Task,
    /// An AI name.
    AiTrace,
}

/// Something that was first seen in the range.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewThing {
    /// Its kind.
    pub kind: NewKind,
    /// Its name; of an Issue the type of the exception.
    pub name: String,
    /// Hash of an Issue; null for other kinds.
    pub exception_hash: Option<String>,
    /// Its service; empty when unknown.
    pub service: String,
    /// The version of its first row, or the new version; null when unknown.
    pub version: Option<String>,
    /// First time in the range.
    #[schema(format = DateTime)]
    pub since: String,
    /// Occurrences, requests, runs or calls in the range; 0 for services and versions.
    pub count: u64,
}

/// Cost of the model calls of one name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiSpendOf {
    /// Name of the AI Trace.
    pub name: String,
    /// US dollars in the range.
    pub cost: f64,
    /// US dollars in the compared part of the range.
    pub compared_cost: f64,
    /// US dollars in the equally long time that it is compared with.
    pub previous_cost: f64,
    /// Priced calls in the range.
    pub calls: u64,
    /// Priced calls in the compared part of the range.
    pub compared_calls: u64,
    /// Priced calls in the equally long time that it is compared with.
    pub previous_calls: u64,
    /// Relative change from `previousCost` to `comparedCost`, 0.2 for 20 % more; null with fewer than 20 priced calls in
    /// either time.
    #[schema(required)]
    pub change: Option<f64>,
}

/// Cost of model calls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiSpend {
    /// All names together; its name is empty.
    pub total: AiSpendOf,
    /// The names that cost most, at most five.
    pub names: Vec<AiSpendOf>,
    /// Start of the part of the range that is compared with the equally long time one range earlier: the start of the
    /// range, or later when telemetry began in the time before. Null when there was less than an hour of telemetry
    /// before.
    #[schema(format = DateTime, required)]
    pub compared_from: Option<String>,
}

/// Response of `POST /api/overview/answers`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// The Endpoints with most bad requests, at most 20: one an hour or more, or one when there is telemetry of less than
    /// five minutes.
    pub always_bad: Vec<AlwaysBad>,
    /// New Issues, services, versions, then names; the latest of each first, at most 20. Nothing of the first five
    /// minutes of telemetry is new.
    pub new: Vec<NewThing>,
    /// Cost of AI; null without a priced call in the range.
    #[schema(required)]
    pub ai_spend: Option<AiSpend>,
    /// The minute of the first telemetry when it is in the range; null when there was telemetry before.
    #[schema(format = DateTime, required)]
    pub data_since: Option<String>,
}

/// Response of `GET /api/overview/data-since`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataSince {
    /// The minute of the first telemetry when that is within the last 24 hours; null when there was telemetry before,
    /// or never.
    #[schema(format = DateTime, required)]
    pub data_since: Option<String>,
}
