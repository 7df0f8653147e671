//! The history of notifications: `/api/notification-history`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::contexts::Alerting;
use crate::error::ApiError;
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_alerts::channels::{AlertStatus, NotificationFilter, Severity, StoredNotification};
use tidewatch_alerts::rules::views::*;
use tidewatch_domain::units::DAY_NS;
use tidewatch_query::page::Paging;
use tidewatch_query::time;
use tidewatch_query::views::page::Page;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(list)).routes(routes!(open_count))
}

/// Lists the notifications of people, the latest first.
#[utoipa::path(
    post,
    path = "/api/notification-history",
    operation_id = "listNotifications",
    tag = "alerts",
    params(ProjectQuery),
    request_body = NotificationHistoryRequest,
    responses((status = 200, description = "Success", body = Page<NotificationRow>), Failures)
)]
async fn list(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<NotificationHistoryRequest>,
) -> Result<Json<Page<NotificationRow>>, ApiError> {
    let paging = Paging::read(request.pagination)?;
    let filter = NotificationFilter {
        status: request.status.map(|status| match status {
            NotificationStatus::Firing => AlertStatus::Firing,
            NotificationStatus::Resolved => AlertStatus::Resolved,
        }),
        severity: request.severity.map(|severity| match severity {
            RuleSeverity::Info => Severity::Info,
            RuleSeverity::Warning => Severity::Warning,
            RuleSeverity::Critical => Severity::Critical,
        }),
        rule_type: request.rule_type,
        search: request.search.map(|search| search.trim().to_owned()).filter(|search| !search.is_empty()),
        from_ns: time::parse_optional(request.from_date.as_deref(), "fromDate")?.unwrap_or(i64::MIN),
        to_ns: time::parse_optional(request.to_date.as_deref(), "toDate")?.unwrap_or(i64::MAX),
    };
    let window = paging.window();
    let (offset, limit) = (window.offset as i64, window.limit as i64);
    let (found, total) = alerting.rooms.channels.notifications(access.project.number, &filter, offset, limit).await?;
    Ok(Json(paging.page(found.into_iter().map(row).collect(), total)))
}

/// The number of alerts that began in the last 24 hours and have not ended.
#[utoipa::path(
    get,
    path = "/api/notification-history/open-count",
    operation_id = "countOpenAlerts",
    tag = "alerts",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = OpenAlerts), Failures)
)]
async fn open_count(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess,
) -> Result<Json<OpenAlerts>, ApiError> {
    let from_ns = alerting.clock.now_ns().saturating_sub(DAY_NS);
    Ok(Json(OpenAlerts { count: alerting.rooms.channels.open_alerts(access.project.number, from_ns).await? }))
}

fn row(stored: StoredNotification) -> NotificationRow {
    let count = |count: i64| u64::try_from(count).unwrap_or(0);
    NotificationRow {
        id: stored.id,
        alert_key: stored.alert_key,
        status: match stored.status {
            AlertStatus::Firing => NotificationStatus::Firing,
            AlertStatus::Resolved => NotificationStatus::Resolved,
        },
        severity: match stored.severity {
            Severity::Info => RuleSeverity::Info,
            Severity::Warning => RuleSeverity::Warning,
            Severity::Critical => RuleSeverity::Critical,
        },
        rule_type: stored.rule_type,
        rule_name: stored.rule_name,
        subject: stored.subject,
        body: stored.body,
        path: stored.path,
        open: stored.is_open,
        sent: count(stored.sent),
        waiting: count(stored.waiting),
        failed: count(stored.failed),
        error: stored.error,
        created_at: time::to_rfc3339(stored.created_ns),
    }
}
