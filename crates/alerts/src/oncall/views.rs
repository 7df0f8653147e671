//! On-call: teams, schedules, escalation policies. WIRE 5.7.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OncallPerson {
    /// Id of the user.
    pub user_id: i64,
    /// Display name.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

/// Body of the routes that create and change a team.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamRequest {
    /// 1 to 100 characters, unique in the organization.
    pub name: String,
    /// At most 1000 characters.
    #[serde(default)]
    pub description: String,
    /// Ids of the members, in order; null keeps them.
    #[serde(default, alias = "userIds")]
    pub member_ids: Option<Vec<i64>>,
    /// Ids of the projects that the team owns; null keeps them. A project has at most one team.
    #[serde(default)]
    pub project_ids: Option<Vec<String>>,
}

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamView {
    /// Its id.
    pub id: i64,
    /// Its organization.
    pub organization_id: i64,
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// Its members, in order.
    pub members: Vec<OncallPerson>,
    /// The projects that it owns.
    pub projects: Vec<TeamProject>,
    /// Number of members.
    pub member_count: usize,
    /// Number of projects.
    pub project_count: usize,
    /// Number of schedules.
    pub schedule_count: i64,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// A project of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamProject {
    /// Its id.
    pub project_id: String,
    /// Its name.
    pub name: String,
}

/// Teams of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Teams {
    /// By name.
    pub teams: Vec<TeamView>,
}

/// Body of the routes that create and change a schedule.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRequest {
    /// The team.
    pub team_id: i64,
    /// 1 to 100 characters, unique in the organization.
    pub name: String,
    /// At most 1000 characters.
    #[serde(default)]
    pub description: String,
    /// IANA name.
    pub timezone: String,
    /// `{layers: [{name, rotationType, handoffTime, handoffDay, intervalDays, intervalHours, rotationStart, userIds,
    /// restrictions}]}`, see docs/use/on-call.md.
    #[schema(value_type = Object)]
    pub definition: Value,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleView {
    /// Its id.
    pub id: i64,
    /// Its organization.
    pub organization_id: i64,
    /// Its team.
    pub team_id: i64,
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// IANA name.
    pub timezone: String,
    /// Its layers.
    #[schema(value_type = Object)]
    pub definition: Value,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Schedules of an organization.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Schedules {
    /// By name.
    pub schedules: Vec<ScheduleView>,
}

/// A schedule and its overrides.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ScheduleDetail {
    /// The schedule.
    pub schedule: ScheduleView,
    /// Overrides that have not ended.
    pub overrides: Vec<OverrideView>,
}

/// Body of the route that creates an override.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverrideRequest {
    /// User who is on call.
    pub user_id: i64,
    /// The beginning.
    #[schema(format = DateTime)]
    pub start_at: String,
    /// The end, at most 30 days later.
    #[schema(format = DateTime)]
    pub end_at: String,
}

/// An override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverrideView {
    /// Its id.
    pub id: i64,
    /// Its schedule.
    pub schedule_id: i64,
    /// User who is on call.
    pub user_id: i64,
    /// The beginning.
    #[schema(format = DateTime)]
    pub start_at: String,
    /// The end.
    #[schema(format = DateTime)]
    pub end_at: String,
    /// User who created it.
    pub created_by: Option<i64>,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A time that somebody is on call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShiftView {
    /// User who is on call.
    pub user_id: i64,
    /// The beginning.
    #[schema(format = DateTime)]
    pub start: String,
    /// The end.
    #[schema(format = DateTime)]
    pub end: String,
    /// Whether it is of an override.
    pub is_override: bool,
}

/// The shifts of one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LayerTimeline {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its shifts, without regard to other layers and overrides.
    pub shifts: Vec<ShiftView>,
}

/// The shifts of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Timeline {
    /// The beginning.
    #[schema(format = DateTime)]
    pub from: String,
    /// The end.
    #[schema(format = DateTime)]
    pub to: String,
    /// By layer.
    pub layers: Vec<LayerTimeline>,
    /// Shifts of all layers together.
    #[serde(rename = "final")]
    pub result: Vec<ShiftView>,
    /// The people by id; null: no longer a member.
    #[schema(value_type = BTreeMap<i64, OncallPerson>)]
    pub users: BTreeMap<i64, Option<OncallPerson>>,
}

/// Body of the route that computes the timeline of a schedule that is not stored.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
pub struct SchedulePreviewRequest {
    /// IANA name.
    pub timezone: String,
    /// The layers.
    #[schema(value_type = Object)]
    pub definition: Value,
    /// The beginning.
    #[schema(format = DateTime)]
    pub from: String,
    /// The end, at most 62 days later.
    #[schema(format = DateTime)]
    pub to: String,
}

/// People who are on call by a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleNow {
    /// Id of the schedule.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// People who are on call; empty: nobody.
    pub oncall: Vec<OncallPerson>,
    /// When the shift began.
    pub since: Option<String>,
    /// When the shift ends.
    pub until: Option<String>,
    /// Person who is next.
    pub next_up: Option<OncallPerson>,
    /// From when.
    pub next_at: Option<String>,
}

/// People who are on call in a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TeamNow {
    /// The team.
    pub team: TeamView,
    /// Its schedules.
    pub schedules: Vec<ScheduleNow>,
}

/// People who are on call in an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OncallNow {
    /// By team.
    pub teams: Vec<TeamNow>,
}

/// Body of the routes that create and change a policy.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
pub struct PolicyRequest {
    /// 1 to 100 characters, unique in the organization.
    pub name: String,
    /// `{steps: [{targets: [{type, id}], delayMinutes}], repeat, urgency}`, see docs/use/on-call.md.
    #[schema(value_type = Object)]
    pub definition: Value,
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyView {
    /// Its id.
    pub id: i64,
    /// Its organization.
    pub organization_id: i64,
    /// Its name.
    pub name: String,
    /// Its steps.
    #[schema(value_type = Object)]
    pub definition: Value,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Policies of an organization.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Policies {
    /// By name.
    pub policies: Vec<PolicyView>,
}
