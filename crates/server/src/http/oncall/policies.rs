//! `/api/organizations/{id}/escalation-policies...`, `/api/escalation-policies`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::people::{id, name};
use super::views;
use crate::contexts::Alerting;
use crate::error::ApiError;
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, OrganizationAccess, ProjectAccess, Read};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_alerts::oncall::NewPolicy;
use tidewatch_alerts::oncall::policy::PolicyDefinition;
use tidewatch_alerts::oncall::views::{Policies, PolicyRequest, PolicyView};

const NO_POLICY: &str = "no such escalation policy";

/// The escalation policies of an organization.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/escalation-policies",
    operation_id = "listEscalationPolicies",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = Policies), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<Policies>, ApiError> {
    Ok(Json(all(&alerting, access.organization.id).await?))
}

/// The escalation policies of the organization of a project.
#[utoipa::path(
    get,
    path = "/api/escalation-policies",
    operation_id = "listEscalationPoliciesOfProject",
    tag = "on-call",
    params(ProjectQuery),
    responses((status = 200, description = "Success", body = Policies), Failures)
)]
pub async fn of_project(
    State(alerting): State<Arc<Alerting>>,
    access: ProjectAccess,
) -> Result<Json<Policies>, ApiError> {
    Ok(Json(all(&alerting, access.project.organization_id).await?))
}

/// Creates an escalation policy.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/escalation-policies",
    operation_id = "createEscalationPolicy",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = PolicyRequest,
    responses((status = 201, description = "Created", body = PolicyView), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    JsonBody(request): JsonBody<PolicyRequest>,
) -> Result<(StatusCode, Json<PolicyView>), ApiError> {
    let organization = access.organization.id;
    let id = alerting
        .rooms
        .oncall
        .save_oncall_policy(&access.actor(&alerting.clock), organization, None, &checked(request)?)
        .await?;
    Ok((StatusCode::CREATED, Json(view(&alerting, organization, id).await?)))
}

/// Changes an escalation policy. Pages that are open follow the policy as it was when they were opened.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/escalation-policies/{policyId}",
    operation_id = "changeEscalationPolicy",
    tag = "on-call",
    params(("id" = i64, Path), ("policyId" = i64, Path)),
    request_body = PolicyRequest,
    responses((status = 200, description = "Success", body = PolicyView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, policy)): Path<(String, String)>,
    JsonBody(request): JsonBody<PolicyRequest>,
) -> Result<Json<PolicyView>, ApiError> {
    let (organization, policy) = (access.organization.id, id(&policy, NO_POLICY)?);
    alerting
        .rooms
        .oncall
        .save_oncall_policy(&access.actor(&alerting.clock), organization, Some(policy), &checked(request)?)
        .await?;
    Ok(Json(view(&alerting, organization, policy).await?))
}

/// Deletes an escalation policy. Not possible while a channel opens its pages.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/escalation-policies/{policyId}",
    operation_id = "deleteEscalationPolicy",
    tag = "on-call",
    params(("id" = i64, Path), ("policyId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    access: OrganizationAccess<Admin>,
    Path((_organization, policy)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    let policy = id(&policy, NO_POLICY)?;
    alerting.rooms.oncall.delete_oncall_policy(&access.actor(&alerting.clock), access.organization.id, policy).await?;
    Ok(Json(Done { message: "the escalation policy was deleted".to_owned() }))
}

async fn all(alerting: &Alerting, organization: i64) -> Result<Policies, ApiError> {
    let policies = alerting.rooms.oncall.oncall_policies(organization).await?;
    Ok(Policies { policies: policies.into_iter().map(|one| views::policy(organization, one)).collect() })
}

async fn view(alerting: &Alerting, organization: i64, policy: i64) -> Result<PolicyView, ApiError> {
    let found = all(alerting, organization).await?.policies.into_iter().find(|one| one.id == policy);
    found.ok_or_else(|| ApiError::not_found(NO_POLICY))
}

fn checked(request: PolicyRequest) -> Result<NewPolicy, ApiError> {
    let definition: PolicyDefinition = serde_json::from_value(request.definition)
        .map_err(|error| ApiError::unprocessable(format!("definition is wrong: {error}")))?;
    definition.check().map_err(ApiError::unprocessable)?;
    let definition = serde_json::to_string(&definition).map_err(ApiError::internal)?;
    Ok(NewPolicy { name: name("name", &request.name)?, definition })
}
