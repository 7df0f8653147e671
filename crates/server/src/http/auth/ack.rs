//! `/api/ack`: links that acknowledge an alert without a login. WIRE 5.7. The token is sent in a header; routes with
//! the token in their path are for existing clients.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::fields::rfc3339;
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::{AckPage, AckView};
use crate::http::gate::auth::ClientInfo;
use crate::http::gate::link_token::LinkToken;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, NotFound, TooMany};
use tidewatch_alerts::oncall::AckLink;
use tidewatch_limits::per_ip::{Ack, AckLookup};

/// The alert of an acknowledgement link. Does not acknowledge it, because mail scanners open links.
#[utoipa::path(
    get,
    path = "/api/ack/{token}",
    operation_id = "getAck",
    tag = "credentials",
    params(("token" = String, Path, description = "`twk_...`")),
    responses((status = 200, description = "Success", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn get(
    _: PerIp<AckLookup>,
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    LinkToken(token): LinkToken,
) -> Result<Json<AckView>, ApiError> {
    let found = alerting.rooms.oncall.ack_link(&token, alerting.clock.now_ns()).await?;
    view(&accounts, found)
}

/// Acknowledges an alert. Repetitions have no effect.
#[utoipa::path(
    post,
    path = "/api/ack/{token}",
    operation_id = "acknowledge",
    tag = "credentials",
    params(("token" = String, Path, description = "`twk_...`")),
    responses((status = 200, description = "Acknowledged", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn acknowledge(
    _: PerIp<Ack>,
    from: ClientInfo,
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    LinkToken(token): LinkToken,
) -> Result<Json<AckView>, ApiError> {
    let found = alerting.rooms.oncall.acknowledge(&from.actor(&alerting.clock, "link"), &token).await?;
    view(&accounts, found)
}

/// The alert of an acknowledgement link. Does not acknowledge it, because mail scanners open links.
#[utoipa::path(
    get,
    path = "/api/ack",
    operation_id = "getAckOfLink",
    tag = "credentials",
    params(("Link-Token" = String, Header, description = "`twk_...`, from the link")),
    responses((status = 200, description = "Success", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn get_link(
    window: PerIp<AckLookup>,
    alerting: State<Arc<Alerting>>,
    accounts: State<Arc<Accounts>>,
    token: LinkToken,
) -> Result<Json<AckView>, ApiError> {
    get(window, alerting, accounts, token).await
}

/// Acknowledges an alert. Repetitions have no effect.
#[utoipa::path(
    post,
    path = "/api/ack",
    operation_id = "acknowledgeOfLink",
    tag = "credentials",
    params(("Link-Token" = String, Header, description = "`twk_...`, from the link")),
    responses((status = 200, description = "Acknowledged", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn acknowledge_link(
    window: PerIp<Ack>,
    from: ClientInfo,
    alerting: State<Arc<Alerting>>,
    accounts: State<Arc<Accounts>>,
    token: LinkToken,
) -> Result<Json<AckView>, ApiError> {
    acknowledge(window, from, alerting, accounts, token).await
}

fn view(accounts: &Accounts, found: Option<AckLink>) -> Result<Json<AckView>, ApiError> {
    let link = found.ok_or_else(|| ApiError::not_found("this link is not, or no longer, known"))?;
    let name_of = |id: i64| accounts.control.people.user(id).map(|user| user.name.clone());
    let page = link.page.as_ref().map(|page| AckPage {
        body: page.body.clone(),
        severity: page.severity.name().to_owned(),
        urgency: if page.is_urgent { "high" } else { "low" }.to_owned(),
        rule_name: page.rule_name.clone(),
        project_name: accounts
            .control
            .projects
            .project_by_number(page.project)
            .map(|one| one.name.clone())
            .unwrap_or_default(),
        event_count: page.event_count,
        last_event_at: rfc3339(page.last_event_ns),
        created_at: rfc3339(page.opened_ns),
        acknowledged_by_name: page.acknowledged_by.and_then(name_of),
    });
    Ok(Json(AckView {
        subject: link.page.map_or(link.subject, |page| page.subject),
        status: if link.acknowledged_ns.is_some() { "acknowledged" } else { "open" }.to_owned(),
        acknowledged_at: link.acknowledged_ns.map(rfc3339),
        page,
    }))
}
