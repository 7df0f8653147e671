//! Profiles: requests and responses of `/api/profiles/...`. WIRE 2.2.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::page::{OrderBy, PageRequest, SortDirection};
pub use super::profile_values::{FirstProfiles, ProfileTemporality};

/// The profiles of a request, and the samples in them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileSelection {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null. Must not be before `fromDate` (422).
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Name of the service. Empty: 400.
    pub service_name: String,
    /// Type of the profiles, as in `POST /api/profiles/types`. Empty: 400.
    #[serde(rename = "type")]
    pub profile_type: String,
    /// Samples with these labels only. A key that is neither `endpoint` nor on the project's list is 400.
    pub labels: BTreeMap<String, String>,
    /// Profiles of this version only; null or empty: of all versions.
    pub app_version: Option<String>,
    /// Profiles of this server only; null or empty: of all servers.
    pub server_name: Option<String>,
    /// Samples of this trace only, 32 hex digits; null or empty: of all.
    pub trace_id: Option<String>,
    /// Samples of this span only, 16 hex digits; null or empty: of all.
    pub span_id: Option<String>,
    /// Ignored: known from the profiles. Accepted because clients send it. WIRE 2.2.
    pub is_gauge: Option<bool>,
    /// Ignored: known from the profiles. Accepted because clients send it. WIRE 2.2.
    pub unit: Option<String>,
}

/// Orders of the list of profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "named as the fields")]
pub enum ProfileOrder {
    #[default]
    LastSeen,
    ServiceName,
    Type,
    ProfileCount,
    SampleCount,
    TotalValue,
}

/// Body of `POST /api/profiles/grouped`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct GroupedProfilesRequest {
    /// Start of the time range, inclusive; 24 hours before `toDate` when null.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// `lastSeen` when null.
    #[schema(value_type = Option<ProfileOrder>)]
    pub order_by: OrderBy<ProfileOrder>,
    /// `desc` when null.
    pub sort_direction: Option<SortDirection>,
    /// Substring of the service or the type, ASCII case ignored; at most 200 characters.
    pub search: Option<String>,
    /// The page; the first 20 rows when null.
    pub pagination: Option<PageRequest>,
}

/// A type of profiles of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileTypeView {
    /// Name of the service.
    pub service_name: String,
    /// The type, for requests.
    #[serde(rename = "type")]
    pub profile_type: String,
    /// Kind of profile, for example `cpu` or `heap`.
    pub profile: String,
    /// The sample type as received, for example `inuse_space`.
    pub sample_type: String,
    /// Unit of the values, for example `nanoseconds`, `bytes` or `count`.
    pub unit: String,
    /// Whether values are a state, of which the latest per instance is shown, instead of an amount.
    pub is_gauge: bool,
    /// Meaning of the values of successive profiles.
    pub temporality: ProfileTemporality,
    /// Start of the latest profile.
    #[schema(format = DateTime)]
    pub last_seen: String,
}

/// The profiles of one type of a service.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileGroup {
    /// The type.
    #[serde(flatten)]
    pub of: ProfileTypeView,
    /// Number of profiles.
    pub profile_count: u64,
    /// Number of samples.
    pub sample_count: u64,
    /// Sum of the values; of a cumulative type, of the differences per process; of a gauge, of the latest per instance.
    pub total_value: f64,
    /// First profiles that do not count.
    pub first_profiles: FirstProfiles,
    /// Start of the first profile.
    #[schema(format = DateTime)]
    pub first_seen: String,
}

/// Body of `POST /api/profiles/types`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileTypesRequest {
    /// Start of the time range; at least 30 days before `toDate` are read.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive; now when null.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Types of this service only; null or empty: of all services.
    pub service_name: Option<String>,
}

/// `POST /api/profiles/types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProfileTypes {
    /// By service and type, at most 1000.
    pub types: Vec<ProfileTypeView>,
}

/// Body of `POST /api/profiles/series`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileSeriesRequest {
    /// The profiles.
    #[serde(flatten)]
    pub selection: ProfileSelection,
    /// Minutes per point; by the length of the range when null. Raised so that there are at most 2000 points.
    pub interval_minutes: Option<i64>,
    /// Values per second of profiled time instead of sums; gauges are not changed.
    pub normalize: bool,
}

/// One point of a series of profiles.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfilePoint {
    /// Start of the bucket.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Sum of the values; of a cumulative type, of the differences per process; of a gauge, of the latest per instance.
    pub value: f64,
    /// Number of profiles in the bucket.
    pub profile_count: u64,
}

/// `POST /api/profiles/series`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileSeries {
    /// By time; buckets without profiles are absent.
    pub points: Vec<ProfilePoint>,
    /// Minutes per point.
    pub interval_minutes: i64,
    /// Unit of the values.
    pub unit: String,
    /// Whether values are the latest per instance.
    pub is_gauge: bool,
    /// Meaning of the values of successive profiles.
    pub temporality: ProfileTemporality,
    /// First profiles that do not count.
    pub first_profiles: FirstProfiles,
}

/// Body of `POST /api/profiles/series/breakdown`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileBreakdownRequest {
    /// The profiles, and the width of points.
    #[serde(flatten)]
    pub series: ProfileSeriesRequest,
    /// `appVersion`, `serverName`, or `label:` and the key of a label.
    pub dimension: String,
    /// Number of series, 1 to 50; 10 when null.
    pub limit: Option<usize>,
}

/// One series of a breakdown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProfileBreakdownSeries {
    /// Value of the dimension; empty for none.
    pub key: String,
    /// By time.
    pub points: Vec<ProfilePoint>,
}

/// `POST /api/profiles/series/breakdown`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileBreakdown {
    /// Greatest total first.
    pub series: Vec<ProfileBreakdownSeries>,
    /// Number of further keys.
    pub others: usize,
    /// Minutes per point.
    pub interval_minutes: i64,
    /// Unit of the values.
    pub unit: String,
    /// Whether values are the latest per instance.
    pub is_gauge: bool,
    /// Meaning of the values of successive profiles.
    pub temporality: ProfileTemporality,
    /// First profiles that do not count.
    pub first_profiles: FirstProfiles,
}

/// `POST /api/profiles/dimensions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDimensions {
    /// Versions, sorted.
    pub app_versions: Vec<String>,
    /// Servers, sorted.
    pub server_names: Vec<String>,
}

/// The values of one label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProfileLabel {
    /// Key of the label.
    pub key: String,
    /// Its values, sorted, at most 1000.
    pub values: Vec<String>,
}

/// `POST /api/profiles/labels`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileLabels {
    /// By key.
    pub labels: Vec<ProfileLabel>,
    /// Whether some samples carry the id of a span or a trace.
    pub has_spans: bool,
}

/// Orders of the children of a flame graph's node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlameOrder {
    /// Greatest total first.
    #[default]
    Heavy,
    /// By the times of the samples; only adjacent samples are merged.
    Time,
}

/// The second selection of a diff; a null field is that of the first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FlameBaseline {
    /// Start of the time range.
    #[schema(format = DateTime)]
    pub from_date: Option<String>,
    /// End of the time range, exclusive.
    #[schema(format = DateTime)]
    pub to_date: Option<String>,
    /// Version of the application.
    pub app_version: Option<String>,
    /// Name of the server.
    pub server_name: Option<String>,
}

/// Body of `POST /api/profiles/flamegraph`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FlameGraphRequest {
    /// The profiles.
    #[serde(flatten)]
    pub selection: ProfileSelection,
    /// The profiles to compare with; null: no comparison.
    pub baseline: Option<FlameBaseline>,
    /// `heavy` when absent.
    pub order: FlameOrder,
    /// Maximum number of nodes, 1 to 20000; 20000 when null.
    pub nodes_max: Option<usize>,
}

/// The nodes of a flame graph, column by column, in depth-first order. The parent of a node is the nearest earlier node
/// of the next lower level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlameNodes {
    /// Index of the name.
    pub name: Vec<u32>,
    /// Depth; 0 for the root, which is the first node.
    pub level: Vec<u32>,
    /// Value of samples that end in the node.
    #[serde(rename = "self")]
    pub own: Vec<f64>,
    /// Value of the node and the nodes below it.
    pub total: Vec<f64>,
    /// `self` of the baseline; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_self: Option<Vec<f64>>,
    /// `total` of the baseline; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_total: Option<Vec<f64>>,
}

/// The size of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlameTotals {
    /// Number of profiles.
    pub profile_count: u64,
    /// Number of samples.
    pub sample_count: u64,
    /// Sum of the values; of a cumulative type, of the differences per process; of a gauge, of the latest per instance.
    pub total: f64,
    /// First profiles that do not count.
    pub first_profiles: FirstProfiles,
}

/// `POST /api/profiles/flamegraph`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlameGraph {
    /// Unit of the values.
    pub unit: String,
    /// Whether values are the latest per instance.
    pub is_gauge: bool,
    /// Meaning of the values of successive profiles.
    pub temporality: ProfileTemporality,
    /// The size of the selection.
    #[serde(flatten)]
    pub totals: FlameTotals,
    /// The size of the baseline; null without one.
    pub baseline: Option<FlameTotals>,
    /// Names of functions.
    pub names: Vec<String>,
    /// Packages of `names`, empty when unknown.
    pub packages: Vec<String>,
    /// Source files of `names`, empty when unknown.
    pub files: Vec<String>,
    /// The nodes.
    pub nodes: FlameNodes,
    /// Number of nodes that are merged into nodes with the name `(truncated)`.
    pub truncated_nodes: usize,
    /// Whether samples have times of their own.
    pub has_timestamps: bool,
    /// Number of stacks whose functions are no longer stored; shown as `(unknown)`.
    pub missing_stacks: usize,
}

/// Orders of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopOrder {
    /// By the value of samples that end in the function.
    #[default]
    #[serde(rename = "self")]
    Own,
    /// By the value of samples with the function.
    Total,
}

/// Key by which functions are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopBy {
    /// Every function is a row.
    #[default]
    Function,
    /// Every package is a row.
    Package,
}

/// Body of `POST /api/profiles/top`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TopFunctionsRequest {
    /// The profiles.
    #[serde(flatten)]
    pub selection: ProfileSelection,
    /// Number of rows, 1 to 200; 25 when null.
    pub limit: Option<usize>,
    /// `self` when absent.
    #[schema(value_type = Option<TopOrder>)]
    pub order_by: OrderBy<TopOrder>,
    /// `function` when absent.
    pub by: TopBy,
    /// Substring of the name, ASCII case ignored.
    pub search: Option<String>,
}

/// A function or package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopFunction {
    /// Name of the function or package.
    pub name: String,
    /// Package, empty when unknown.
    pub package: String,
    /// Source file, empty when unknown.
    pub file: String,
    /// Value of samples that end in it.
    #[serde(rename = "self")]
    pub own: f64,
    /// Value of samples with it; a sample counts once.
    pub total: f64,
}

/// `POST /api/profiles/top`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopFunctions {
    /// Unit of the values.
    pub unit: String,
    /// Whether values are the latest per instance.
    pub is_gauge: bool,
    /// Meaning of the values of successive profiles.
    pub temporality: ProfileTemporality,
    /// First profiles that do not count.
    pub first_profiles: FirstProfiles,
    /// Value of all samples.
    pub total: f64,
    /// The functions.
    pub data: Vec<TopFunction>,
    /// Number of all functions or packages that match.
    pub functions: usize,
}

/// Body of `POST /api/profiles/links`: a span.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileLinksRequest {
    /// Service of the span.
    pub service_name: String,
    /// Start of the span.
    #[schema(format = DateTime)]
    pub from: String,
    /// End of the span.
    #[schema(format = DateTime)]
    pub to: String,
    /// Trace of the span, 32 hex digits; may be empty.
    pub trace_id: Option<String>,
    /// Id of the span, 16 hex digits; may be empty.
    pub span_id: Option<String>,
}

/// Profiles of one type that were taken while a span ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileLink {
    /// The type.
    #[serde(flatten)]
    pub of: ProfileTypeView,
    /// Number of profiles.
    pub profile_count: u64,
    /// Whether samples of this span exist, or of its trace when the request has no span.
    pub by_span: bool,
}

/// `POST /api/profiles/links`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProfileLinks {
    /// Types with profiles; empty when there are none.
    pub types: Vec<ProfileLink>,
    /// Start of the range that contains these profiles.
    #[schema(format = DateTime)]
    pub from: String,
    /// End of that range, exclusive.
    #[schema(format = DateTime)]
    pub to: String,
}
