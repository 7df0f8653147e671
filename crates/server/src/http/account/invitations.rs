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
use crate::http::account::bodies::people::{InvitationCreated, InvitationRequest, InvitationView};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, OrganizationAccess, ViaFreshLogin, ViaLogin};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{ErrorBody, Failures, NotFound};
use tidewatch_accounts::mail::templates;
use tidewatch_accounts::{Invitation, NewInvitation};

/// Invites a user by mail. The invitation is valid for seven days. Only the owner can invite admins. Without a mail
/// server, the answer has the link.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/invitations",
    operation_id = "invite",
    tag = "organizations",
    params(("id" = i64, Path)),
    request_body = InvitationRequest,
    responses((status = 201, description = "Invited", body = InvitationCreated), (status = 409, description = "The address belongs to a member, or has an invitation", body = ErrorBody), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<ViaFreshLogin<Admin>>,
    JsonBody(request): JsonBody<InvitationRequest>,
) -> Result<(StatusCode, Json<InvitationCreated>), ApiError> {
    let new = NewInvitation {
        organization_id: access.organization.id,
        email: fields::email(&request.email)?,
        role: given_role(&request.role)?,
        is_link_shown: !accounts.mailer.is_set_up,
    };
    let base = process.config.base_url();
    let mail = |token: &str| {
        templates::invitation(&base, &access.organization.name, &access.user.name, new.role, &new.email, token)
    };
    let token = accounts.control.people.invite(&access.actor(&accounts.clock), &new, mail).await?;
    accounts.mailer.wake();
    let created = match new.is_link_shown {
        false => InvitationCreated { message: "the invitation is on its way".to_owned(), link: None },
        true => InvitationCreated {
            message: "this server has no mail server (SMTP_HOST): pass the link on yourself".to_owned(),
            link: Some(templates::invitation_link(&base, &token)),
        },
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Replaces the link of an invitation by one that the answer shows, valid for seven days. Earlier links end.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/invitations/{invitationId}/link",
    operation_id = "showInvitationLink",
    tag = "organizations",
    params(("id" = i64, Path), ("invitationId" = i64, Path)),
    responses((status = 200, description = "The new link", body = InvitationCreated), Failures, NotFound)
)]
pub async fn show_link(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: OrganizationAccess<ViaFreshLogin<Admin>>,
    Path((_organization, invitation)): Path<(String, String)>,
) -> Result<Json<InvitationCreated>, ApiError> {
    let actor = access.actor(&accounts.clock);
    let id = number(&invitation)?;
    let token = accounts.control.people.renew_invitation(&actor, access.organization.id, id).await?;
    let link = templates::invitation_link(&process.config.base_url(), &token);
    Ok(Json(InvitationCreated { message: "earlier links of the invitation ended".to_owned(), link: Some(link) }))
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
