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
use tidewatch_accounts::{Membership, Role};
use tidewatch_ingest::refusals::UnknownSender;
use tidewatch_limits as limits;
use tidewatch_query::ask::Ask;
use tidewatch_query::drops;
use tidewatch_query::time;
use tidewatch_query::views::drops::*;

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
    let project = &access.project;
    let last_refusal = |signal: &str, reason: &str| {
        let last = app.refusals.last_sentence(project.number, signal, reason)?;
        Some((last.message, last.at_ns))
    };
    Ok(Json(drops::read(&ask, project, request, app.hints.other_ai(project.number), last_refusal).await?))
}

/// The latest exports whose token belongs to no project, since the server's start.
// The owner of the first organization runs the server and sees all. Other owners see what came from the address they look
// from, because addresses and tokens of other organizations are not theirs.
#[utoipa::path(
    get,
    path = "/api/refusals",
    operation_id = "getRefusals",
    tag = "drops",
    responses((status = 200, description = "The answer", body = Refusals), Failures)
)]
async fn refusals(State(app): State<Arc<App>>, InPerson(caller): InPerson) -> Result<Json<Refusals>, ApiError> {
    let (user, owned) = (caller.user.id, |membership: &Membership| membership.role == Role::Owner);
    if !app.control.memberships(user).iter().any(owned) {
        return Err(ApiError::Forbidden("this is for owners"));
    }
    let first = app.control.first_organization();
    let sees_all = first.and_then(|first| app.control.membership(user, first)).is_some_and(|member| owned(&member));
    let found = app.refusals.unknown(|sender| sees_all || sender.address == caller.from.address);
    let view = |sender: UnknownSender| RefusalView {
        time: time::show(sender.at_ns),
        address: sender.address.to_string(),
        path: sender.path,
        token_start: sender.token_start,
        user_agent: sender.user_agent,
        reason: sender.reason.as_str().to_owned(),
        message: sender.message.to_owned(),
    };
    Ok(Json(Refusals { data: found.into_iter().map(view).collect() }))
}
