//! `/api/organizations/{id}/demo`: a project with demo data, to explore the product before telemetry is connected.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{Admin, OrganizationAccess, Read};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use crate::jobs::demo::{load, state};
use tidewatch_limits as limits;
use tidewatch_query::executor::Executor;
use tidewatch_query::views::demo::{DemoRequest, DemoView};

/// Whether demo data exists, and the progress of its loading.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/demo",
    operation_id = "getDemo",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = DemoView), Failures)
)]
pub async fn get(State(app): State<Arc<App>>, access: OrganizationAccess<Read>) -> Result<Json<DemoView>, ApiError> {
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    state::read(&executor, &app.demos, access.organization.id).await.map(Json)
}

/// Creates a project and starts loading demo data into it. Demo data that is loaded or being loaded is unchanged; demo
/// data whose loading was interrupted or failed is deleted and loaded again.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/demo",
    operation_id = "loadDemo",
    tag = "organizations",
    params(("id" = i64, Path)),
    request_body = DemoRequest,
    responses(
        (status = 202, description = "Loading has started", body = DemoView),
        (status = 200, description = "Demo data exists already", body = DemoView),
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
    let began = load::begin(&app, &access.actor(&app), access.organization.id, minutes).await?;
    let executor = Executor::within(app.query.clone(), limits::LIST_DEADLINE);
    let status = if began { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(state::read(&executor, &app.demos, access.organization.id).await?)))
}
