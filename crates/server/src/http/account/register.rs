//! `GET /api/has-organizations`, `POST /api/register`: the first account of a server. WIRE 5.1.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::projects::{check_framework, check_name};
use super::{fields, password, view};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{HasOrganizations, LoginBundle, RegisterAnswer, RegisterRequest};
use crate::http::gate::auth::{ClientInfo, Via};
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, TooMany};
use crate::http::setup_code;
use tidewatch_accounts::NewAccount;
use tidewatch_limits::per_ip::Register;

/// Whether an organization exists, and whether registration needs a setup code.
#[utoipa::path(
    get,
    path = "/api/has-organizations",
    operation_id = "hasOrganizations",
    tag = "account",
    responses((status = 200, description = "Success", body = HasOrganizations)),
    security(())
)]
pub async fn has_organizations(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
) -> Json<HasOrganizations> {
    let needs_setup_code = setup_code::expected(&accounts, &process).is_some();
    Json(HasOrganizations { has_organizations: accounts.control.people.has_organizations(), needs_setup_code })
}

/// Creates the first account with an organization and a project. Requires the setup code that the server printed. Fails
/// if an organization exists.
#[utoipa::path(
    post,
    path = "/api/register",
    operation_id = "register",
    tag = "account",
    request_body = RegisterRequest,
    responses((status = 201, description = "Registered", body = RegisterAnswer), (status = 409, description = "An organization exists already", body = ErrorBody), Failures, TooMany),
    security(())
)]
pub async fn register(
    _: PerIp<Register>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    AnonymousBody(request): AnonymousBody<RegisterRequest>,
) -> Result<(StatusCode, Json<RegisterAnswer>), ApiError> {
    let exists = ApiError::Conflict("an organization already exists; ask for an invitation");
    if accounts.control.people.has_organizations() {
        return Err(exists);
    }
    if process.config.sso.disable_password_login {
        return Err(ApiError::Forbidden("nobody signs in with a password here"));
    }
    setup_code::check(&accounts, &process, request.setup_code.as_deref())?;
    let account = check(&request)?;
    let password_hash = password::hash(&accounts, request.password).await?;
    let account = NewAccount { password_hash, ..account };
    // Of concurrent registrations, the database accepts the first.
    let actor = from.actor(&accounts.clock, &account.email);
    let (user, project) = accounts.control.people.register(&actor, &account).await?;
    tracing::info!(user = user.id, "registered the first account");
    let token = view::begin_session(&accounts, &from, &user).await?;
    let role = accounts.control.people.role_in(user.id, &project).ok_or(exists)?;
    let project = view::project_view(&accounts, &process, &project, role, &Via::Login);
    let LoginBundle { user, projects, organizations } = view::bundle(&accounts, &process, &user, &Via::Login);
    Ok((StatusCode::CREATED, Json(RegisterAnswer { token, user, project, projects, organizations })))
}

/// The account to create, without the hash of its password.
fn check(request: &RegisterRequest) -> Result<NewAccount, ApiError> {
    let email = fields::email(&request.email)?;
    password::check(&request.password)?;
    Ok(NewAccount {
        email,
        name: fields::text("name", &request.name)?,
        password_hash: String::new(),
        organization_name: fields::text("organizationName", &request.organization_name)?,
        timezone: fields::timezone(request.timezone.as_deref())?,
        project_name: check_name(&request.project_name)?,
        framework: check_framework(request.framework.as_deref())?,
    })
}
