//! The grouping rules of a project: `/api/grouping-rules`.

use std::sync::Arc;

use crate::http::api::{Api, Descriptions, routes};
use axum::Json;
use axum::extract::{Path, State};

use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::executor::Executor;
use tidewatch_query::grouping_rules;
use tidewatch_query::views::grouping_rules::*;

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(list, create))
        .routes(routes!(order))
        .routes(routes!(preview))
        .routes(routes!(apply))
        .routes(routes!(change, delete))
}

fn executor(query: &Arc<QueryContext>) -> Executor {
    Executor::within(query.clone(), limits::LIST_DEADLINE)
}

fn rule_id(id: &str) -> Result<i64, ApiError> {
    id.parse().map_err(|_| ApiError::not_found("no such grouping rule"))
}

/// The grouping rules of a project, in the order in which they are tried.
#[utoipa::path(
    get,
    path = "/api/grouping-rules",
    operation_id = "listGroupingRules",
    tag = "issues",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = GroupingRuleList), Failures)
)]
async fn list(access: ProjectAccess) -> Json<GroupingRuleList> {
    Json(grouping_rules::list(&access.project))
}

/// Adds a grouping rule after the others. It groups exceptions that arrive afterwards.
#[utoipa::path(
    post,
    path = "/api/grouping-rules",
    operation_id = "createGroupingRule",
    tag = "issues",
    params(ProjectQuery),
    request_body = GroupingRuleRequest,
    responses((status = 200, description = "Success", body = GroupingRuleSaved), Failures)
)]
async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<GroupingRuleRequest>,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    let request = GroupingRuleRequest { id: None, ..request };
    save(&accounts, &query, &access, request).await
}

/// Changes a grouping rule.
#[utoipa::path(
    put,
    path = "/api/grouping-rules/{id}",
    operation_id = "changeGroupingRule",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Number of the rule")),
    request_body = GroupingRuleRequest,
    responses((status = 200, description = "Success", body = GroupingRuleSaved), Failures, NotFound)
)]
async fn change(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<GroupingRuleRequest>,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    let request = GroupingRuleRequest { id: Some(rule_id(&id)?), ..request };
    save(&accounts, &query, &access, request).await
}

async fn save(
    accounts: &Accounts,
    query: &Arc<QueryContext>,
    access: &ProjectAccess<Write>,
    request: GroupingRuleRequest,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    grouping_rules::check(&executor(query), &access.project, &request).await?;
    let GroupingRuleRequest { query: text, template, id } = request;
    let (actor, projects) = (access.actor(&accounts.clock), &accounts.control.projects);
    let id = projects.save_grouping_rule(&actor, &access.project, id, text.trim(), template.trim()).await?;
    Ok(Json(GroupingRuleSaved { id }))
}

/// Deletes a grouping rule. Stored exceptions stay as they are grouped.
#[utoipa::path(
    delete,
    path = "/api/grouping-rules/{id}",
    operation_id = "deleteGroupingRule",
    tag = "issues",
    params(ProjectQuery, ("id" = String, Path, description = "Number of the rule")),
    responses((status = 200, description = "Success", body = GroupingRuleSaved), Failures, NotFound)
)]
async fn delete(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<Write>,
    Path(id): Path<String>,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    let id = rule_id(&id)?;
    let actor = access.actor(&accounts.clock);
    accounts.control.projects.delete_grouping_rule(&actor, &access.project, id).await?;
    Ok(Json(GroupingRuleSaved { id }))
}

/// Orders the grouping rules: the first whose query an exception meets groups it.
#[utoipa::path(
    put,
    path = "/api/grouping-rules/order",
    operation_id = "orderGroupingRules",
    tag = "issues",
    params(ProjectQuery),
    request_body = GroupingRuleOrder,
    responses((status = 200, description = "Success", body = GroupingRuleSaved), Failures, NotFound)
)]
async fn order(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<GroupingRuleOrder>,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    let actor = access.actor(&accounts.clock);
    accounts.control.projects.order_grouping_rules(&actor, &access.project, &request.ids).await?;
    Ok(Json(GroupingRuleSaved { id: 0 }))
}

/// The effect that a grouping rule would have on the exceptions of the last seven days.
#[utoipa::path(
    post,
    path = "/api/grouping-rules/preview",
    operation_id = "previewGroupingRule",
    tag = "issues",
    params(ProjectQuery),
    request_body = GroupingRuleRequest,
    responses((status = 200, description = "Success", body = GroupingRulePreview), Failures)
)]
async fn preview(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<GroupingRuleRequest>,
) -> Result<Json<GroupingRulePreview>, ApiError> {
    Ok(Json(grouping_rules::preview(&executor(&query), &access.project, &request).await?))
}

/// Groups the stored exceptions of the project again with its rules, in the background.
#[utoipa::path(
    post,
    path = "/api/grouping-rules/apply",
    operation_id = "applyGroupingRules",
    tag = "issues",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = GroupingRuleSaved), Failures)
)]
async fn apply(
    State(accounts): State<Arc<Accounts>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess<Write>,
) -> Result<Json<GroupingRuleSaved>, ApiError> {
    let actor = access.actor(&accounts.clock);
    accounts.control.projects.request_regrouping(&actor, &access.project).await?;
    ingest.regrouping.notify_one();
    Ok(Json(GroupingRuleSaved { id: 0 }))
}
