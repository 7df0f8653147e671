//! `/api/heartbeat`: reports of jobs, without a login. The token in the path is the credential; the server's own spans
//! and log lines show the template of the route only.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use tidewatch_alerts::monitors::{MonitorOutcome, MonitorResult};
use utoipa::ToSchema;

use super::api::{Api, Descriptions, routes};
use super::gate::per_ip::PerIp;
use super::openapi::{NotFound, TooMany};
use crate::contexts::Alerting;
use crate::error::ApiError;
use tidewatch_limits::per_ip::Heartbeat;

/// The routes of reports.
pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(succeeded, succeeded_by_post)).routes(routes!(ended, ended_by_post))
}

/// Response to a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
struct Reported {
    /// `ok`.
    status: &'static str,
}

/// Reports that a job has succeeded.
#[utoipa::path(
    get,
    path = "/api/heartbeat/{token}",
    operation_id = "reportHeartbeat",
    tag = "monitors",
    params(("token" = String, Path, description = "`twh_...`")),
    responses((status = 200, description = "Success", body = Reported), NotFound, TooMany),
    security(())
)]
async fn succeeded(
    _: PerIp<Heartbeat>,
    State(alerting): State<Arc<Alerting>>,
    Path(token): Path<String>,
) -> Result<Json<Reported>, ApiError> {
    report(&alerting, &token, MonitorOutcome::Up, String::new()).await
}

/// Reports that a job has succeeded.
#[utoipa::path(
    post,
    path = "/api/heartbeat/{token}",
    operation_id = "postHeartbeat",
    tag = "monitors",
    params(("token" = String, Path, description = "`twh_...`")),
    responses((status = 200, description = "Success", body = Reported), NotFound, TooMany),
    security(())
)]
async fn succeeded_by_post(
    window: PerIp<Heartbeat>,
    alerting: State<Arc<Alerting>>,
    token: Path<String>,
) -> Result<Json<Reported>, ApiError> {
    succeeded(window, alerting, token).await
}

/// Reports how a job has ended: `fail`, or its exit code, of which 0 is success.
#[utoipa::path(
    get,
    path = "/api/heartbeat/{token}/{outcome}",
    operation_id = "reportHeartbeatOutcome",
    tag = "monitors",
    params(
        ("token" = String, Path, description = "`twh_...`"),
        ("outcome" = String, Path, description = "`fail`, or an exit code from 0 to 255"),
    ),
    responses((status = 200, description = "Success", body = Reported), NotFound, TooMany),
    security(())
)]
async fn ended(
    _: PerIp<Heartbeat>,
    State(alerting): State<Arc<Alerting>>,
    Path((token, outcome)): Path<(String, String)>,
) -> Result<Json<Reported>, ApiError> {
    let (outcome, reason) = match (outcome.as_str(), outcome.parse::<u8>()) {
        ("fail", _) => (MonitorOutcome::Down, "the job has failed".to_owned()),
        (_, Ok(0)) => (MonitorOutcome::Up, String::new()),
        (_, Ok(code)) => (MonitorOutcome::Down, format!("the job has ended with exit code {code}")),
        _ => return Err(ApiError::not_found("the end of the path is fail, or an exit code from 0 to 255")),
    };
    report(&alerting, &token, outcome, reason).await
}

/// Reports how a job has ended: `fail`, or its exit code, of which 0 is success.
#[utoipa::path(
    post,
    path = "/api/heartbeat/{token}/{outcome}",
    operation_id = "postHeartbeatOutcome",
    tag = "monitors",
    params(
        ("token" = String, Path, description = "`twh_...`"),
        ("outcome" = String, Path, description = "`fail`, or an exit code from 0 to 255"),
    ),
    responses((status = 200, description = "Success", body = Reported), NotFound, TooMany),
    security(())
)]
async fn ended_by_post(
    window: PerIp<Heartbeat>,
    alerting: State<Arc<Alerting>>,
    path: Path<(String, String)>,
) -> Result<Json<Reported>, ApiError> {
    ended(window, alerting, path).await
}

async fn report(
    alerting: &Alerting,
    token: &str,
    outcome: MonitorOutcome,
    reason: String,
) -> Result<Json<Reported>, ApiError> {
    let result = MonitorResult::unmeasured(alerting.clock.now_ns(), outcome, reason);
    match alerting.rooms.monitors.record_heartbeat(token, &result).await? {
        true => Ok(Json(Reported { status: "ok" })),
        false => Err(ApiError::not_found("no such heartbeat")),
    }
}
