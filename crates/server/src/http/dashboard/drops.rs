//! Outcomes of received requests and records: `/api/drops`, `/api/refusals`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::State;

use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::gate::auth::{LoginUser, ProjectAccess};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_accounts::{Membership, Role};
use tidewatch_ingest::refusals::UnknownSender;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::drops;
use tidewatch_query::executor::Executor;
use tidewatch_query::time;
use tidewatch_query::views::drops::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(drops)).routes(routes!(refusals))
}

/// Counts of accepted and rejected requests, and of stored and dropped records.
#[utoipa::path(
    post,
    path = "/api/drops",
    operation_id = "getDrops",
    tag = "drops",
    params(ProjectQuery),
    request_body = DropsRequest,
    responses((status = 200, description = "Success", body = Drops), Failures)
)]
async fn drops(
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<DropsRequest>,
) -> Result<Json<Drops>, ApiError> {
    let executor = Executor::within(query.clone(), limits::LIST_DEADLINE);
    let project = &access.project;
    let last_refusal = |signal: &str, reason: &str| {
        let last = ingest.refusals.last_message(project.number, signal, reason)?;
        Some((last.message, last.at_ns))
    };
    Ok(Json(drops::read(&executor, project, request, ingest.hints.other_ai(project.number), last_refusal).await?))
}

/// The latest exports whose token belongs to no project, since the start of the server.
// Owners of the first organization operate the server and see all refusals. Other owners see those from their own
// address, because addresses and tokens of other organizations are confidential.
#[utoipa::path(
    get,
    path = "/api/refusals",
    operation_id = "getRefusals",
    tag = "drops",
    responses((status = 200, description = "Success", body = Refusals), Failures)
)]
async fn refusals(
    State(accounts): State<Arc<Accounts>>,
    State(ingest): State<Arc<Ingest>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<Refusals>, ApiError> {
    let (user, owned) = (caller.user.id, |membership: &Membership| membership.role == Role::Owner);
    if !accounts.control.people.memberships(user).iter().any(owned) {
        return Err(ApiError::Forbidden("this is for owners"));
    }
    let first = accounts.control.people.first_organization();
    let sees_all =
        first.and_then(|first| accounts.control.people.membership(user, first)).is_some_and(|member| owned(&member));
    let found = ingest.refusals.unknown(|sender| sees_all || sender.address == caller.from.address);
    let view = |sender: UnknownSender| RefusalView {
        time: time::to_rfc3339(sender.at_ns),
        address: sender.address.to_string(),
        path: sender.path,
        token_start: sender.token_start,
        user_agent: sender.user_agent,
        reason: sender.reason.as_str().to_owned(),
        message: sender.message.to_owned(),
    };
    Ok(Json(Refusals { data: found.into_iter().map(view).collect() }))
}
