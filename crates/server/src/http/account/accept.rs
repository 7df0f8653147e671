//! `/api/invitation...`: accepting an invitation. WIRE 5.2. The token authorizes reading the invitation. It is sent in
//! a header; routes with the token in their path are for existing clients.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::{fields, password, view};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{LoginAnswer, LoginBundle};
use crate::http::account::bodies::people::{AcceptRequest, InvitedView};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{ClientInfo, LoginUser, Via};
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::link_token::LinkToken;
use crate::http::gate::per_ip::PerIp;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use tidewatch_limits::per_ip::{InvitationAcceptance, InvitationLookup};

/// The content of an invitation.
#[utoipa::path(
    get,
    path = "/api/invitations/{token}",
    operation_id = "invitation",
    tag = "account",
    params(("token" = String, Path)),
    responses((status = 200, description = "Success", body = InvitedView), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany),
    security(())
)]
pub async fn look_up(
    _: PerIp<InvitationLookup>,
    State(accounts): State<Arc<Accounts>>,
    LinkToken(token): LinkToken,
) -> Result<Json<InvitedView>, ApiError> {
    let invited = accounts.control.people.invited(&token, accounts.clock.now_ns()).await?;
    Ok(Json(InvitedView {
        email: invited.email,
        organization_name: invited.organization_name,
        inviter_name: invited.inviter_name,
        exists_as_user: invited.exists_as_user,
        role: invited.role.as_str().to_owned(),
    }))
}

/// Creates an account for the invited address, and signs it in.
#[utoipa::path(
    post,
    path = "/api/invitations/{token}/accept",
    operation_id = "acceptInvitation",
    tag = "account",
    params(("token" = String, Path)),
    request_body = AcceptRequest,
    responses((status = 201, description = "Joined", body = LoginAnswer), (status = 409, description = "The address has an account: sign in and accept", body = ErrorBody), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany),
    security(())
)]
pub async fn accept(
    _: PerIp<InvitationAcceptance>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LinkToken(token): LinkToken,
    AnonymousBody(request): AnonymousBody<AcceptRequest>,
) -> Result<(StatusCode, Json<LoginAnswer>), ApiError> {
    let name = fields::text("name", &request.name)?;
    password::check(&request.password)?;
    // The token is checked first, so that guesses cause no password hashing.
    let invited = accounts.control.people.invited(&token, accounts.clock.now_ns()).await?;
    if invited.exists_as_user {
        return Err(ApiError::Conflict("the email address has an account already; sign in to accept"));
    }
    let hash = password::hash(&accounts, request.password).await?;
    let actor = from.actor(&accounts.clock, &invited.email);
    let user = accounts.control.people.accept_as_new(&actor, &token, &name, &hash).await?;
    let user = accounts.control.people.user(user).ok_or(ApiError::Unauthorized("the account is gone"))?;
    let token = view::begin_session(&accounts, &from, &user).await?;
    let LoginBundle { user, projects, organizations } = view::bundle(&accounts, &process, &user, &Via::Login);
    Ok((StatusCode::CREATED, Json(LoginAnswer { token, user, projects, organizations })))
}

/// Accepts an invitation as the signed-in user. The invitation must be for the user's address.
#[utoipa::path(
    post,
    path = "/api/invitations/{token}/accept-existing",
    operation_id = "acceptInvitationAsUser",
    tag = "account",
    params(("token" = String, Path)),
    responses((status = 200, description = "Joined", body = Done), (status = 409, description = "The user is a member already", body = ErrorBody), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany)
)]
pub async fn accept_existing(
    _: PerIp<InvitationAcceptance>,
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    LinkToken(token): LinkToken,
) -> Result<Json<Done>, ApiError> {
    accounts
        .control
        .people
        .accept_as_user(&caller.actor(&accounts.clock), &token, caller.user.id, &caller.user.email)
        .await?;
    Ok(Json(Done { message: "you are a member now".to_owned() }))
}

/// The content of an invitation.
#[utoipa::path(
    get,
    path = "/api/invitation",
    operation_id = "invitationOfLink",
    tag = "account",
    params(("Link-Token" = String, Header, description = "`twi_...`, from the link")),
    responses((status = 200, description = "Success", body = InvitedView), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany),
    security(())
)]
pub async fn look_up_link(
    window: PerIp<InvitationLookup>,
    accounts: State<Arc<Accounts>>,
    token: LinkToken,
) -> Result<Json<InvitedView>, ApiError> {
    look_up(window, accounts, token).await
}

/// Creates an account for the invited address, and signs it in.
#[utoipa::path(
    post,
    path = "/api/invitation/accept",
    operation_id = "acceptInvitationOfLink",
    tag = "account",
    params(("Link-Token" = String, Header, description = "`twi_...`, from the link")),
    request_body = AcceptRequest,
    responses((status = 201, description = "Joined", body = LoginAnswer), (status = 409, description = "The address has an account: sign in and accept", body = ErrorBody), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany),
    security(())
)]
pub async fn accept_link(
    window: PerIp<InvitationAcceptance>,
    from: ClientInfo,
    accounts: State<Arc<Accounts>>,
    process: State<Arc<Process>>,
    token: LinkToken,
    body: AnonymousBody<AcceptRequest>,
) -> Result<(StatusCode, Json<LoginAnswer>), ApiError> {
    accept(window, from, accounts, process, token, body).await
}

/// Accepts an invitation as the signed-in user. The invitation must be for the user's address.
#[utoipa::path(
    post,
    path = "/api/invitation/accept-existing",
    operation_id = "acceptInvitationOfLinkAsUser",
    tag = "account",
    params(("Link-Token" = String, Header, description = "`twi_...`, from the link")),
    responses((status = 200, description = "Joined", body = Done), (status = 409, description = "The user is a member already", body = ErrorBody), (status = 410, description = "Used, revoked or expired", body = ErrorBody), Failures, NotFound, TooMany)
)]
pub async fn accept_existing_link(
    window: PerIp<InvitationAcceptance>,
    accounts: State<Arc<Accounts>>,
    caller: LoginUser,
    token: LinkToken,
) -> Result<Json<Done>, ApiError> {
    accept_existing(window, accounts, caller, token).await
}
