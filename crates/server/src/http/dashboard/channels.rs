//! Channels of notifications: `/api/notification-channels`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::Project;
use tidewatch_alerts::channels;
use tidewatch_alerts::channels::delivery::config;
use tidewatch_alerts::channels::delivery::message::Message;
use tidewatch_alerts::channels::{
    AlertStatus, Channel, ESCALATION, Notification, SeriesPoint, Severity, mask_secrets, unmask_secrets,
};
use tidewatch_alerts::fields::ConfigTypes;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_query::time;

/// Points of the chart of a test, one a minute.
const TEST_POINTS: i64 = 30;

/// Body of `POST /api/notification-channels`.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelRequest {
    /// 1 to 100 characters.
    pub name: String,
    /// `email`, `webhook`, `slack`, `teams`, `discord`, `telegram`, `github`, `pushover`, `pagerduty`, `opsgenie` or
    /// `escalation`.
    pub channel_type: String,
    /// The keys of the type (docs/use/notifications.md).
    #[schema(value_type = Object)]
    pub config: Value,
}

/// Body of `PUT /api/notification-channels/{id}`; null keeps a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ChannelChange {
    /// 1 to 100 characters.
    pub name: Option<String>,
    /// The type.
    pub channel_type: Option<String>,
    /// The whole configuration. A secret that is `********` keeps its stored value.
    #[schema(value_type = Option<Object>)]
    pub config: Option<Value>,
}

/// Whether a channel works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChannelState {
    /// Nothing was sent yet.
    Unused,
    /// It took the latest message.
    Working,
    /// The latest attempts failed.
    Failing,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelRow {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its type.
    pub channel_type: String,
    /// Its configuration; secrets are `********`. Empty if it was encrypted with another key.
    #[schema(value_type = Object)]
    pub config: Value,
    /// Whether it works.
    pub state: ChannelState,
    /// Since when every attempt has failed.
    #[schema(format = DateTime)]
    pub failing_since: Option<String>,
    /// Latest error; empty: none.
    pub last_error: String,
    /// Time of the latest message that it took.
    #[schema(format = DateTime)]
    pub last_sent_at: Option<String>,
    /// Notifications that wait to be sent.
    pub waiting: i64,
    /// Rules that notify it.
    pub rule_count: i64,
    /// Time of its creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest change.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// Response of `GET /api/notification-channels`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Channels {
    /// By name.
    pub channels: Vec<ChannelRow>,
}

/// Response of the deletion of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChannelDeleted {
    /// Always true.
    pub deleted: bool,
}

/// Response of a test of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChannelTested {
    /// Always true.
    pub success: bool,
}

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list, create))
        .routes(routes!(types))
        .routes(routes!(change, delete))
        .routes(routes!(test))
}

/// The channels of a project, without their secrets.
#[utoipa::path(
    get,
    path = "/api/notification-channels",
    operation_id = "listChannels",
    tag = "notifications",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = Channels), Failures)
)]
async fn list(State(alerting): State<Arc<Alerting>>, access: ProjectAccess) -> Result<Json<Channels>, ApiError> {
    let channels = alerting.rooms.channels.channels(access.project.number).await?;
    Ok(Json(Channels { channels: channels.into_iter().map(row).collect() }))
}

/// The types of channels: words, fields, bounds and defaults. They are the same for every project.
#[utoipa::path(
    get,
    path = "/api/notification-channels/types",
    operation_id = "listChannelTypes",
    tag = "notifications",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = ConfigTypes), Failures)
)]
async fn types(_: ProjectAccess) -> Json<ConfigTypes> {
    Json(channels::types::types())
}

/// Creates a channel.
#[utoipa::path(
    post,
    path = "/api/notification-channels",
    operation_id = "createChannel",
    tag = "notifications",
    params(ProjectQuery),
    request_body = ChannelRequest,
    responses((status = 201, description = "Created", body = ChannelRow), Failures)
)]
async fn create(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<ChannelRequest>,
) -> Result<(StatusCode, Json<ChannelRow>), ApiError> {
    let ChannelRequest { name, channel_type, config } = request;
    let name = checked_name(&name)?;
    let config = checked_config(&channel_type, &config, None)?;
    let actor = access.actor(&alerting.clock);
    let id = alerting.rooms.channels.create_channel(&actor, &access.project, &name, &channel_type, &config).await?;
    Ok((StatusCode::CREATED, Json(row(alerting.rooms.channels.channel(access.project.number, id).await?))))
}

/// Changes a channel. What waits for another attempt is sent at once.
#[utoipa::path(
    put,
    path = "/api/notification-channels/{id}",
    operation_id = "changeChannel",
    tag = "notifications",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the channel")),
    request_body = ChannelChange,
    responses((status = 200, description = "Success", body = ChannelRow), Failures, NotFound)
)]
async fn change(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<ChannelChange>,
) -> Result<Json<ChannelRow>, ApiError> {
    let before = channel(&alerting, &access.project, &id).await?;
    let name = request.name.as_deref().map(checked_name).transpose()?.unwrap_or_else(|| before.name.clone());
    let channel_type = request.channel_type.unwrap_or_else(|| before.channel_type.clone());
    let stored = before.config.as_ref().filter(|_| channel_type == before.channel_type);
    let config = match (&request.config, stored) {
        (Some(config), stored) => checked_config(&channel_type, config, stored)?,
        (None, Some(stored)) => stored.clone(),
        (None, None) => return Err(ApiError::unprocessable("config is missing")),
    };
    let actor = access.actor(&alerting.clock);
    alerting.rooms.channels.change_channel(&actor, &access.project, &before, &name, &channel_type, &config).await?;
    Ok(Json(row(alerting.rooms.channels.channel(access.project.number, before.id).await?)))
}

/// Deletes a channel, the rules that notify it, and what waits to be sent to it.
#[utoipa::path(
    delete,
    path = "/api/notification-channels/{id}",
    operation_id = "deleteChannel",
    tag = "notifications",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the channel")),
    responses((status = 200, description = "Success", body = ChannelDeleted), Failures, NotFound)
)]
async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<ChannelDeleted>, ApiError> {
    alerting.rooms.channels.delete_channel(&access.actor(&alerting.clock), &access.project, channel_id(&id)?).await?;
    Ok(Json(ChannelDeleted { deleted: true }))
}

/// Sends a test message to a channel, and waits for the response of its service. 422 with what failed. Services that
/// follow alerts get an alert that ends at once.
#[utoipa::path(
    post,
    path = "/api/notification-channels/{id}/test",
    operation_id = "testChannel",
    tag = "notifications",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the channel")),
    responses((status = 200, description = "Success", body = ChannelTested), Failures, NotFound)
)]
async fn test(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<ChannelTested>, ApiError> {
    let channel = channel(&alerting, &access.project, &id).await?;
    if channel.channel_type == ESCALATION {
        return Err(ApiError::unprocessable(
            "an escalation policy is started by its alerts: test the channels it uses",
        ));
    }
    let Some(config) = channel.config.clone() else {
        return Err(ApiError::unprocessable("the configuration was encrypted with another key: enter it again"));
    };
    alerting.notifier.count_test(channel.id)?;
    let busy = |_| ApiError::Overloaded("too many channels are being tested; try again later");
    let _permit = alerting.notifier.tests.try_acquire().map_err(busy)?;
    let (notifier, mailer) = (alerting.notifier.clone(), accounts.mailer.clone());
    let (channel_type, name) = (channel.channel_type.clone(), channel.name.clone());
    let id = format!("test_{}_{:x}", channel.id, alerting.clock.now_ns());
    let notification = test_notification(&access.project, &channel, alerting.clock.now_ns());
    let send = move || {
        let ended = Notification { status: AlertStatus::Resolved, ..notification.clone() };
        let follows = ["pagerduty", "opsgenie", "github"].contains(&channel_type.as_str());
        for one in [Some(notification), follows.then_some(ended)].into_iter().flatten() {
            let id = format!("{id}_{}", one.status.name());
            let message = Message::of(&id, &[one], notifier.base_url.as_deref());
            let warning = notifier.send(&mailer, (&channel_type, &config), &message, &[]);
            match warning {
                Ok(warning) if warning.is_empty() => {}
                Ok(warning) => return Err(warning),
                Err(failed) => return Err(failed.error),
            }
        }
        Ok(())
    };
    let sent = tokio::task::spawn_blocking(send).await.map_err(ApiError::internal)?;
    let error = sent.err().unwrap_or_default();
    alerting.rooms.channels.record_channel_test(channel.id, &error, alerting.clock.now_ns()).await?;
    match error.as_str() {
        "" => Ok(Json(ChannelTested { success: true })),
        error => {
            tracing::info!(channel = channel.id, "the test of the channel {name} failed: {error}");
            Err(ApiError::unprocessable(error))
        }
    }
}

fn test_notification(project: &Project, channel: &Channel, now_ns: i64) -> Notification {
    let point = |minute: i64| SeriesPoint {
        at_ns: now_ns - (TEST_POINTS - minute) * MINUTE_NS,
        value: if minute < TEST_POINTS - TEST_POINTS / 3 { 1.0 } else { (minute - TEST_POINTS / 2) as f64 },
    };
    Notification {
        organization: project.organization_id,
        project: Some(project.number),
        alert_key: format!("test:{}:{now_ns}", channel.id),
        status: AlertStatus::Firing,
        severity: Severity::Info,
        rule_type: "test".to_owned(),
        rule_name: "Test of a channel".to_owned(),
        subject: format!("Test of the channel {}", channel.name),
        body: format!("Notifications of the project {} reach this channel.", project.name),
        path: format!("/p/{}/alerts/channels", project.id),
        series: (0..TEST_POINTS).map(point).collect(),
        at_ns: now_ns,
    }
}

fn row(channel: Channel) -> ChannelRow {
    let state = match (channel.failing_since_ns, channel.sent_ns) {
        (Some(_), _) => ChannelState::Failing,
        (None, Some(_)) => ChannelState::Working,
        (None, None) => ChannelState::Unused,
    };
    let shown = channel.config.as_ref().map(|config| mask_secrets(&channel.channel_type, config));
    ChannelRow {
        id: channel.id,
        config: shown.unwrap_or_else(|| Map::new().into()),
        name: channel.name,
        channel_type: channel.channel_type,
        state,
        failing_since: channel.failing_since_ns.map(time::to_rfc3339),
        last_error: channel.error,
        last_sent_at: channel.sent_ns.map(time::to_rfc3339),
        waiting: channel.waiting,
        rule_count: channel.rules,
        created_at: time::to_rfc3339(channel.created_ns),
        updated_at: time::to_rfc3339(channel.updated_ns),
    }
}

async fn channel(alerting: &Alerting, project: &Project, id: &str) -> Result<Channel, ApiError> {
    Ok(alerting.rooms.channels.channel(project.number, channel_id(id)?).await?)
}

fn channel_id(id: &str) -> Result<i64, ApiError> {
    id.parse().ok().filter(|id| *id > 0).ok_or_else(|| ApiError::not_found("no such channel"))
}

/// The trimmed name.
fn checked_name(name: &str) -> Result<String, ApiError> {
    let (name, most) = (name.trim(), limits::CHANNEL_NAME_CHARS_MAX);
    if name.is_empty() || name.chars().count() > most || name.chars().any(char::is_control) {
        return Err(ApiError::unprocessable(format!("a name has 1 to {most} characters")));
    }
    Ok(name.to_owned())
}

/// The configuration to store, with the secrets that it keeps.
fn checked_config(channel_type: &str, config: &Value, stored: Option<&Value>) -> Result<Value, ApiError> {
    let config =
        unmask_secrets(channel_type, config, stored).map_err(|error| ApiError::unprocessable(error.to_string()))?;
    config::checked(channel_type, &config).map_err(ApiError::unprocessable)
}
