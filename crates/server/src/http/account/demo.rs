//! `/api/organizations/{id}/demo`: a project with demo data, for people who look around before they connect anything.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::demo::{load, state};
use crate::error::ApiError;
use crate::http::gate::auth::{Admin, OrganizationAccess, Read};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::views::demo::{DemoRequest, DemoView};

/// Whether there is demo data, and how far its loading is.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/demo",
    operation_id = "getDemo",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "The answer", body = DemoView), Failures)
)]
pub async fn look(State(app): State<Arc<App>>, access: OrganizationAccess<Read>) -> Result<Json<DemoView>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    state::read(&ask, &app.demos, access.organization.id).await.map(Json)
}

/// Makes a project of demo data and begins to load it. Demo data that is there or on its way stays as it is; what was
/// interrupted or has failed is deleted, and loaded anew.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/demo",
    operation_id = "loadDemo",
    tag = "organizations",
    params(("id" = i64, Path)),
    request_body = DemoRequest,
    responses(
        (status = 202, description = "It is being loaded", body = DemoView),
        (status = 200, description = "There is demo data", body = DemoView),
        Failures
    )
)]
pub async fn load(
    State(app): State<Arc<App>>,
    access: OrganizationAccess<Admin>,
    JsonBody(request): JsonBody<DemoRequest>,
) -> Result<(StatusCode, Json<DemoView>), ApiError> {
    let minutes = request.history_minutes.unwrap_or(limits::DEMO_HISTORY_MINUTES);
    if !(1..=limits::DEMO_HISTORY_MINUTES_MAX).contains(&minutes) {
        let most = limits::DEMO_HISTORY_MINUTES_MAX;
        return Err(ApiError::unprocessable(format!("historyMinutes is 1 to {most}")));
    }
    let began = load::begin(&app, &access.by(&app), access.organization.id, minutes).await?;
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    let status = if began { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(state::read(&ask, &app.demos, access.organization.id).await?)))
}
