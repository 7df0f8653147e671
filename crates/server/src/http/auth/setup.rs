//! `/api/setup-tokens`, `/api/setup/*`: a program that sets up a repository, such as a coding agent, proposes projects,
//! and the user who created its token approves or refuses them. WIRE 5.4 names only the routes; the bodies are not
//! specified.
//!
//! The token is valid for an hour, only for [`session`] and [`plan`], and cannot create anything.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::fields::rfc3339;
use crate::app::AppState;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::project::ProjectView;
use crate::http::account::{check_framework, check_project_name, project_view, writable_membership};
use crate::http::auth::bodies::setup::{
    NewSetupToken, PlannedProjectView, SetupDraftView, SetupOrganization, SetupPlanRequest, SetupSessionView,
    SetupTokenRequest,
};
use crate::http::confirmation::StatusAnswer;
use crate::http::gate::auth::{LoginUser, SignedIn, Via, bearer, check_two_factor};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use tidewatch_accounts::{Membership, Permission, PlannedProject, Role, SetupSession};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::Setup;

/// A request with a valid setup token, whose user may still create projects in the organization.
pub struct SetupAuth {
    session: SetupSession,
    membership: Membership,
}

const UNKNOWN: ApiError = ApiError::Unauthorized("this setup token is not, or no longer, known");

impl FromRequestParts<AppState> for SetupAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<SetupAuth, ApiError> {
        let accounts = Arc::<Accounts>::from_ref(state);
        let token = bearer(&parts.headers).filter(|token| token.starts_with("tws_")).ok_or(UNKNOWN)?;
        let session =
            accounts.control.credentials.setup_session(token, accounts.clock.now_ns()).await?.ok_or(UNKNOWN)?;
        let user = accounts.control.people.user(session.user_id).ok_or(UNKNOWN)?;
        let membership = accounts.control.people.membership(user.id, session.organization_id);
        let membership = membership.filter(|member| member.role.permits(Permission::Write)).ok_or(UNKNOWN)?;
        check_two_factor(&user, &membership.organization)?;
        Ok(SetupAuth { session, membership })
    }
}

/// Creates a setup token for a program. It is valid for an hour.
#[utoipa::path(
    post,
    path = "/api/setup-tokens",
    operation_id = "createSetupToken",
    tag = "credentials",
    request_body = SetupTokenRequest,
    responses((status = 201, description = "Created", body = NewSetupToken), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<SetupTokenRequest>,
) -> Result<(StatusCode, Json<NewSetupToken>), ApiError> {
    let membership = writable_membership(&accounts, &caller, request.organization_id)?;
    let organization_id = membership.organization.id;
    let (session, token) = accounts
        .control
        .credentials
        .begin_setup(&caller.actor(&accounts.clock), caller.user.id, organization_id)
        .await?;
    let (expires_at, backend_url) = (rfc3339(session.expires_ns), process.config.base_url());
    Ok((StatusCode::CREATED, Json(NewSetupToken { id: session.id, token, organization_id, backend_url, expires_at })))
}

/// The organization of the setup token, and the state of its plan.
#[utoipa::path(
    get,
    path = "/api/setup/session",
    operation_id = "getSetupSession",
    tag = "credentials",
    responses((status = 200, description = "Success", body = SetupSessionView), Failures, TooMany)
)]
pub async fn session(
    _: PerIp<Setup>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    auth: SetupAuth,
) -> Json<SetupSessionView> {
    Json(session_view(&accounts, &process, &auth.session, &auth.membership))
}

/// Proposes projects. They replace previously proposed ones.
#[utoipa::path(
    post,
    path = "/api/setup/plan",
    operation_id = "proposeSetup",
    tag = "credentials",
    request_body = SetupPlanRequest,
    responses((status = 200, description = "Success", body = SetupSessionView), (status = 409, description = "The plan was approved or refused already", body = ErrorBody), Failures, TooMany)
)]
pub async fn plan(
    _: PerIp<Setup>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    auth: SetupAuth,
    AnonymousBody(request): AnonymousBody<SetupPlanRequest>,
) -> Result<Json<SetupSessionView>, ApiError> {
    let session = accounts.control.credentials.propose_setup(auth.session.id, &planned(&request)?).await?;
    Ok(Json(session_view(&accounts, &process, &session, &auth.membership)))
}

/// The plans that wait for the user's decision, the newest first.
#[utoipa::path(
    get,
    path = "/api/setup/drafts",
    operation_id = "listSetupDrafts",
    tag = "credentials",
    responses((status = 200, description = "Success", body = Vec<SetupDraftView>), Failures)
)]
pub async fn drafts(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
) -> Result<Json<Vec<SetupDraftView>>, ApiError> {
    let drafts = accounts.control.credentials.setup_drafts(caller.user.id, accounts.clock.now_ns()).await?;
    let view = |draft: SetupSession| SetupDraftView {
        id: draft.id,
        organization_id: draft.organization_id,
        created_at: rfc3339(draft.created_ns),
        expires_at: rfc3339(draft.expires_ns),
        projects: draft.plan.iter().map(planned_view).collect(),
    };
    Ok(Json(drafts.into_iter().map(view).collect()))
}

/// Approves a draft and creates its projects. The body repeats the plan that the user has seen; if the plan has changed
/// since, the request fails with 409.
#[utoipa::path(
    post,
    path = "/api/setup/drafts/{id}",
    operation_id = "approveSetupDraft",
    tag = "credentials",
    params(("id" = i64, Path, description = "The draft's id")),
    request_body = SetupPlanRequest,
    responses((status = 201, description = "Created", body = Vec<ProjectView>), (status = 409, description = "The plan has changed", body = ErrorBody), NotFound, Failures)
)]
pub async fn approve(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<SetupPlanRequest>,
) -> Result<(StatusCode, Json<Vec<ProjectView>>), ApiError> {
    let draft = draft(&accounts, &caller, &id).await?;
    let membership = writable_membership(&accounts, &caller, Some(draft.organization_id))?;
    let created =
        accounts.control.credentials.approve_setup(&caller.actor(&accounts.clock), &draft, &planned(&request)?).await?;
    let views = created
        .iter()
        .map(|project| project_view(&accounts, &process, project, membership.role, &Via::Login))
        .collect();
    Ok((StatusCode::CREATED, Json(views)))
}

/// Refuses a draft.
#[utoipa::path(
    delete,
    path = "/api/setup/drafts/{id}",
    operation_id = "refuseSetupDraft",
    tag = "credentials",
    params(("id" = i64, Path, description = "The draft's id")),
    responses((status = 200, description = "Refused", body = StatusAnswer), NotFound, Failures)
)]
pub async fn refuse(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    Path(id): Path<String>,
) -> Result<Json<StatusAnswer>, ApiError> {
    let draft = draft(&accounts, &caller, &id).await?;
    accounts.control.credentials.refuse_setup(&caller.actor(&accounts.clock), &draft).await?;
    Ok(Json(StatusAnswer::of("refused")))
}

async fn draft(accounts: &Accounts, caller: &SignedIn, id: &str) -> Result<SetupSession, ApiError> {
    let drafts = accounts.control.credentials.setup_drafts(caller.user.id, accounts.clock.now_ns()).await?;
    let draft = drafts.into_iter().find(|draft| draft.id.to_string() == id);
    draft.ok_or_else(|| ApiError::not_found("no such draft"))
}

fn planned(request: &SetupPlanRequest) -> Result<Vec<PlannedProject>, ApiError> {
    let most = limits::PROJECTS_AT_ONCE_MAX;
    if !(1..=most).contains(&request.projects.len()) {
        return Err(ApiError::unprocessable(format!("projects has 1 to {most} entries")));
    }
    let checked = request.projects.iter().map(|project| {
        let (name, framework) = (check_project_name(&project.name)?, check_framework(project.framework.as_deref())?);
        Ok(PlannedProject { name, framework })
    });
    checked.collect()
}

fn planned_view(planned: &PlannedProject) -> PlannedProjectView {
    PlannedProjectView { name: planned.name.clone(), framework: planned.framework.clone() }
}

/// The view of a setup session. Created projects include their tokens, because the user has approved them.
fn session_view(
    accounts: &Accounts,
    process: &Process,
    session: &SetupSession,
    membership: &Membership,
) -> SetupSessionView {
    let created = session.projects.iter().filter_map(|number| accounts.control.projects.project_by_number(*number));
    SetupSessionView {
        organization: SetupOrganization { id: membership.organization.id, name: membership.organization.name.clone() },
        status: session.status.as_str().to_owned(),
        plan: session.plan.iter().map(planned_view).collect(),
        projects: created.map(|project| project_view(accounts, process, &project, Role::User, &Via::Login)).collect(),
        backend_url: process.config.base_url(),
        expires_at: rfc3339(session.expires_ns),
    }
}
