//! Notification rules: `/api/notification-rules`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use crate::contexts::Alerting;
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::Project;
use tidewatch_alerts::channels::Severity;
use tidewatch_alerts::fields::ConfigTypes;
use tidewatch_alerts::rules;
use tidewatch_alerts::rules::config::RuleConfig;
use tidewatch_alerts::rules::evaluation::preview;
use tidewatch_alerts::rules::views::*;
use tidewatch_alerts::rules::{NewRule, NotificationRule, RuleStateKind};
use tidewatch_domain::rules::framework::Framework;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::{time, time_windows};

/// The only type of rule of projects whose programs run on the devices of users. WIRE 7.
const FRONT_END_TYPE: &str = "new_error";

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list, create))
        .routes(routes!(types))
        .routes(routes!(change, delete))
        .routes(routes!(toggle))
        .routes(routes!(snooze))
        .routes(routes!(preview_rule))
}

/// The notification rules of a project.
#[utoipa::path(
    get,
    path = "/api/notification-rules",
    operation_id = "listNotificationRules",
    tag = "alerts",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = RuleList), Failures)
)]
async fn list(State(alerting): State<Arc<Alerting>>, access: ProjectAccess) -> Result<Json<RuleList>, ApiError> {
    let rules = alerting.rooms.rules.notification_rules(access.project.number).await?;
    let states = alerting.rooms.rules.rule_states(access.project.number).await?;
    let view = |rule: NotificationRule| {
        let id = rule.id;
        let of_rule = || states.iter().filter(move |((rule, _), _)| *rule == id).map(|(_, state)| state);
        let firing = of_rule().filter(|state| state.kind == RuleStateKind::Firing && state.fired_ns.is_some()).count();
        let last_fired_ns = of_rule().filter_map(|state| state.fired_ns).max();
        RuleView {
            firing: firing as u64,
            last_fired_at: last_fired_ns.map(time::to_rfc3339),
            ..view_of(rule, alerting.clock.now_ns())
        }
    };
    Ok(Json(RuleList { rules: rules.into_iter().map(view).collect() }))
}

/// The types of rules: words, fields, bounds and defaults. They are the same for every project.
#[utoipa::path(
    get,
    path = "/api/notification-rules/types",
    operation_id = "listNotificationRuleTypes",
    tag = "alerts",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = ConfigTypes), Failures)
)]
async fn types(_: ProjectAccess) -> Json<ConfigTypes> {
    Json(rules::types::types())
}

/// Creates a rule.
#[utoipa::path(
    post,
    path = "/api/notification-rules",
    operation_id = "createNotificationRule",
    tag = "alerts",
    params(ProjectQuery),
    request_body = RuleRequest,
    responses((status = 201, description = "Created", body = RuleView), Failures)
)]
async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<RuleRequest>,
) -> Result<(StatusCode, Json<RuleView>), ApiError> {
    let rule = checked(&access.project, request)?;
    let known = known_issues(&query, &access.project, &rule.rule_type).await?;
    let stored =
        alerting.rooms.rules.create_rule(&access.actor(&alerting.clock), &access.project, &rule, &known).await?;
    Ok((StatusCode::CREATED, Json(view_of(stored, alerting.clock.now_ns()))))
}

/// Replaces a rule. Alerts of another type or configuration end.
#[utoipa::path(
    put,
    path = "/api/notification-rules/{id}",
    operation_id = "changeNotificationRule",
    tag = "alerts",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the rule")),
    request_body = RuleRequest,
    responses((status = 200, description = "Success", body = RuleView), Failures, NotFound)
)]
async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<RuleRequest>,
) -> Result<Json<RuleView>, ApiError> {
    let id = rule_id(&id)?;
    let rule = checked(&access.project, request)?;
    let before = alerting.rooms.rules.notification_rules(access.project.number).await?;
    // One that was of this type knows its Issues.
    let was_of_type = before.iter().any(|one| one.id == id && one.is_enabled && one.rule_type == rule.rule_type);
    let known = match was_of_type {
        true => Vec::new(),
        false => known_issues(&query, &access.project, &rule.rule_type).await?,
    };
    let stored =
        alerting.rooms.rules.change_rule(&access.actor(&alerting.clock), &access.project, id, &rule, &known).await?;
    Ok(Json(view_of(stored, alerting.clock.now_ns())))
}

/// Deletes a rule. Its alerts end.
#[utoipa::path(
    delete,
    path = "/api/notification-rules/{id}",
    operation_id = "deleteNotificationRule",
    tag = "alerts",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the rule")),
    responses((status = 200, description = "Success", body = RuleDeleted), Failures, NotFound)
)]
async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<RuleDeleted>, ApiError> {
    alerting.rooms.rules.delete_rule(&access.actor(&alerting.clock), &access.project, rule_id(&id)?).await?;
    Ok(Json(RuleDeleted { deleted: true }))
}

/// Turns a rule on or off.
#[utoipa::path(
    post,
    path = "/api/notification-rules/{id}/toggle",
    operation_id = "toggleNotificationRule",
    tag = "alerts",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the rule")),
    responses((status = 200, description = "Success", body = RuleView), Failures, NotFound)
)]
async fn toggle(
    State(alerting): State<Arc<Alerting>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<RuleView>, ApiError> {
    let id = rule_id(&id)?;
    let rules = alerting.rooms.rules.notification_rules(access.project.number).await?;
    let rule = rules.into_iter().find(|rule| rule.id == id).ok_or_else(no_rule)?;
    let known = match rule.is_enabled {
        true => Vec::new(),
        false => known_issues(&query, &access.project, &rule.rule_type).await?,
    };
    let actor = access.actor(&alerting.clock);
    let stored = alerting.rooms.rules.set_rule_enabled(&actor, &access.project, id, !rule.is_enabled, &known).await?;
    Ok(Json(view_of(stored, alerting.clock.now_ns())))
}

/// Lets a rule fire nothing for some minutes.
#[utoipa::path(
    post,
    path = "/api/notification-rules/{id}/snooze",
    operation_id = "snoozeNotificationRule",
    tag = "alerts",
    params(ProjectQuery, ("id" = String, Path, description = "Id of the rule")),
    request_body = SnoozeRequest,
    responses((status = 200, description = "Success", body = RuleView), Failures, NotFound)
)]
async fn snooze(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<SnoozeRequest>,
) -> Result<Json<RuleView>, ApiError> {
    let minutes = request.duration_minutes;
    check_minutes("durationMinutes", minutes)?;
    let now = alerting.clock.now_ns();
    let until = if minutes == 0 { 0 } else { now.saturating_add(minutes.saturating_mul(MINUTE_NS)) };
    let stored =
        alerting.rooms.rules.snooze_rule(&access.actor(&alerting.clock), &access.project, rule_id(&id)?, until).await?;
    Ok(Json(view_of(stored, now)))
}

/// A rule over the last seven days, before it is saved: its values, and when it would have fired.
#[utoipa::path(
    post,
    path = "/api/notification-rules/preview",
    operation_id = "previewNotificationRule",
    tag = "alerts",
    params(ProjectQuery),
    request_body = RulePreviewRequest,
    responses((status = 200, description = "Success", body = RulePreview), Failures)
)]
async fn preview_rule(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<RulePreviewRequest>,
) -> Result<Json<RulePreview>, ApiError> {
    let config = checked_config(&access.project, &request.rule_type, &request.config)?;
    check_minutes("cooldownMinutes", request.cooldown_minutes)?;
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    let project = access.project.clone();
    Ok(Json(preview::preview(executor, project, &config, request.cooldown_minutes).await?))
}

/// The rule of a request, checked.
fn checked(project: &Project, request: RuleRequest) -> Result<NewRule, ApiError> {
    let RuleRequest { channel_id, name, rule_type, config, cooldown_minutes, severity } = request;
    let name = name.trim().to_owned();
    let most = limits::RULE_NAME_CHARS_MAX;
    if name.is_empty() || name.chars().count() > most || name.chars().any(char::is_control) {
        return Err(ApiError::Unprocessable(format!("a name has 1 to {most} characters")));
    }
    let config = checked_config(project, &rule_type, &config)?;
    check_minutes("cooldownMinutes", cooldown_minutes)?;
    let severity = match severity.as_str() {
        "" => None,
        name => Some(
            Severity::of_name(name)
                .ok_or_else(|| ApiError::Unprocessable("severity is critical, warning, info or empty".to_owned()))?,
        ),
    };
    Ok(NewRule { channel: channel_id, name, rule_type, config: config.to_value(), cooldown_minutes, severity })
}

fn checked_config(project: &Project, rule_type: &str, config: &serde_json::Value) -> Result<RuleConfig, ApiError> {
    if Framework::of_project(&project.framework).is_front_end() && rule_type != FRONT_END_TYPE {
        return Err(ApiError::Unprocessable("a front-end project has rules of the type new_error only".to_owned()));
    }
    if config.to_string().len() > limits::RULE_CONFIG_BYTES_MAX {
        return Err(ApiError::Unprocessable(format!("config has at most {} bytes", limits::RULE_CONFIG_BYTES_MAX)));
    }
    RuleConfig::parse(rule_type, config).map_err(ApiError::Unprocessable)
}

fn check_minutes(key: &str, minutes: i64) -> Result<(), ApiError> {
    if (0..=limits::RULE_MINUTES_MAX).contains(&minutes) {
        return Ok(());
    }
    Err(ApiError::Unprocessable(format!("{key} is 0 to {}", limits::RULE_MINUTES_MAX)))
}

/// The Issues that are not new to a rule that starts now; none for other types.
async fn known_issues(query: &Arc<QueryContext>, project: &Project, rule_type: &str) -> Result<Vec<u64>, ApiError> {
    if rule_type != FRONT_END_TYPE {
        return Ok(Vec::new());
    }
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    Ok(time_windows::known_issues(&executor, project.number).await?)
}

fn view_of(rule: NotificationRule, now_ns: i64) -> RuleView {
    RuleView {
        id: rule.id,
        channel_id: rule.channel,
        name: rule.name,
        rule_type: rule.rule_type,
        config: rule.config,
        cooldown_minutes: rule.cooldown_minutes,
        severity: rule.severity.map_or("", Severity::name).to_owned(),
        enabled: rule.is_enabled,
        snoozed_until: (rule.snoozed_until_ns > now_ns).then(|| time::to_rfc3339(rule.snoozed_until_ns)),
        firing: 0,
        last_fired_at: None,
        created_at: time::to_rfc3339(rule.created_ns),
        updated_at: time::to_rfc3339(rule.updated_ns),
    }
}

fn rule_id(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| no_rule())
}

fn no_rule() -> ApiError {
    ApiError::not_found("no such rule")
}
