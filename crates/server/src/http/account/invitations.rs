//! `/api/organizations/{id}/invitations`: invitations to an organization. WIRE 5.2.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

use super::fields;
use super::members::{given_role, number};
use super::view::rfc3339;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::people::{InvitationRequest, InvitationView};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, OrganizationAccess, ViaFreshLogin, ViaLogin};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{ErrorBody, Failures, NotFound};
use tidewatch_accounts::mail::templates;
use tidewatch_accounts::{Invitation, NewInvitation};

/// Invites a user by mail. The invitation is valid for seven days. Only the owner can invite admins.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/invitations",
    operation_id = "invite",
    tag = "organizations",
    params(("id" = i64, Path)),
    request_body = InvitationRequest,
    responses((status = 201, description = "Invited", body = Done), (status = 409, description = "The address belongs to a member, or has an invitation", body = ErrorBody), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<ViaFreshLogin<Admin>>,
    JsonBody(request): JsonBody<InvitationRequest>,
) -> Result<(StatusCode, Json<Done>), ApiError> {
    let new = NewInvitation {
        organization_id: access.organization.id,
        email: fields::email(&request.email)?,
        role: given_role(&request.role)?,
    };
    let base = process.config.base_url();
    let mail = |token: &str| {
        templates::invitation(&base, &access.organization.name, &access.user.name, new.role, &new.email, token)
    };
    accounts.control.people.invite(&access.actor(&accounts.clock), &new, mail).await?;
    accounts.mailer.wake();
    let message = match accounts.mailer.is_set_up {
        true => "the invitation is on its way",
        false => "the invitation waits: this server has no mail server yet (SMTP_HOST)",
    };
    Ok((StatusCode::CREATED, Json(Done { message: message.to_owned() })))
}

/// The invitations that are neither accepted nor revoked, the newest first.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/invitations",
    operation_id = "listInvitations",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = Vec<InvitationView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Admin>,
) -> Result<Json<Vec<InvitationView>>, ApiError> {
    let invitations = accounts.control.people.invitations(access.organization.id).await?;
    Ok(Json(invitations.into_iter().map(view).collect()))
}

/// Revokes an invitation.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/invitations/{invitationId}",
    operation_id = "revokeInvitation",
    tag = "organizations",
    params(("id" = i64, Path), ("invitationId" = i64, Path)),
    responses((status = 200, description = "Revoked", body = Done), Failures, NotFound)
)]
pub async fn revoke(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaLogin<Admin>>,
    Path((_organization, invitation)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    accounts
        .control
        .people
        .revoke_invitation(&access.actor(&accounts.clock), access.organization.id, number(&invitation)?)
        .await?;
    Ok(Json(Done { message: "the invitation was revoked".to_owned() }))
}

fn view(invitation: Invitation) -> InvitationView {
    InvitationView {
        id: invitation.id,
        email: invitation.email,
        role: invitation.role.as_str().to_owned(),
        inviter_name: invitation.inviter_name,
        created_at: rfc3339(invitation.created_ns),
        expires_at: rfc3339(invitation.expires_ns),
    }
}
