//! What became of what was received: `/api/drops`.

use std::sync::Arc;

use crate::http::api::{Api, routes};
use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{InPerson, ProjectAccess};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use crate::limits;
use crate::query::ask::Ask;
use crate::query::drops;
use crate::query::views::drops::*;

pub fn routes() -> Api {
    Api::new().routes(routes!(drops)).routes(routes!(refusals))
}

/// Accepted and rejected requests, kept and dropped records.
#[utoipa::path(
    post,
    path = "/api/drops",
    operation_id = "getDrops",
    tag = "drops",
    params(ProjectQuery),
    request_body = DropsRequest,
    responses((status = 200, description = "The answer", body = Drops), Failures)
)]
async fn drops(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<DropsRequest>,
) -> Result<Json<Drops>, ApiError> {
    let ask = Ask::within(app.query.clone(), limits::LIST_DEADLINE);
    drops::read(&ask, &access.project, request, (&app.hints, &app.refusals)).await.map(Json)
}

/// The latest exports whose token belongs to no project, since the server's start.
#[utoipa::path(
    get,
    path = "/api/refusals",
    operation_id = "getRefusals",
    tag = "drops",
    responses((status = 200, description = "The answer", body = Refusals), Failures)
)]
async fn refusals(State(app): State<Arc<App>>, InPerson(caller): InPerson) -> Result<Json<Refusals>, ApiError> {
    drops::refusals(&app.control, &app.refusals, caller.user.id, caller.from.address).map(Json)
}
