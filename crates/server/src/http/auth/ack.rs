//! `/api/ack`: links in alerts that acknowledge them without a login. WIRE 5.7. The token comes in a header; the routes of
//! the wire with the token in their path stay for existing clients.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::rfc3339;
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::Origin;
use crate::http::gate::link_token::LinkToken;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, NotFound, TooMany};
use tidewatch_accounts::AckLink;
use tidewatch_limits::per_ip::{Ack, AckLookup};
use tidewatch_query::views::auth::AckView;

/// What the link is about. Changes nothing, so that programs that look into mail do not acknowledge.
#[utoipa::path(
    get,
    path = "/api/ack/{token}",
    operation_id = "getAck",
    tag = "credentials",
    params(("token" = String, Path, description = "`twk_...`")),
    responses((status = 200, description = "The answer", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn look(
    _: PerIp<AckLookup>,
    State(app): State<Arc<App>>,
    LinkToken(token): LinkToken,
) -> Result<Json<AckView>, ApiError> {
    let found = app.control.ack_link(&token, app.clock.now_ns()).await?;
    view(found)
}

/// Acknowledges; a second time changes nothing.
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
    from: Origin,
    State(app): State<Arc<App>>,
    LinkToken(token): LinkToken,
) -> Result<Json<AckView>, ApiError> {
    let found = app.control.acknowledge(&from.by(&app, "link"), &token).await?;
    view(found)
}

/// What the link is about. Changes nothing, so that programs that look into mail do not acknowledge.
#[utoipa::path(
    get,
    path = "/api/ack",
    operation_id = "getAckOfLink",
    tag = "credentials",
    params(("Link-Token" = String, Header, description = "`twk_...`, from the link")),
    responses((status = 200, description = "The answer", body = AckView), (status = 410, description = "The link has expired", body = ErrorBody), NotFound, TooMany),
    security(())
)]
pub async fn look_link(
    window: PerIp<AckLookup>,
    app: State<Arc<App>>,
    token: LinkToken,
) -> Result<Json<AckView>, ApiError> {
    look(window, app, token).await
}

/// Acknowledges; a second time changes nothing.
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
    from: Origin,
    app: State<Arc<App>>,
    token: LinkToken,
) -> Result<Json<AckView>, ApiError> {
    acknowledge(window, from, app, token).await
}

fn view(found: Option<AckLink>) -> Result<Json<AckView>, ApiError> {
    let link = found.ok_or_else(|| ApiError::not_found("this link is not, or no longer, known"))?;
    Ok(Json(AckView {
        subject: link.subject,
        status: if link.acknowledged_ns.is_some() { "acknowledged" } else { "open" }.to_owned(),
        acknowledged_at: link.acknowledged_ns.map(rfc3339),
    }))
}
