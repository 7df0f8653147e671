//! Organizations, members, invitations, forgotten passwords, sessions, the audit log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/organizations`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewOrganizationRequest {
    /// Name of the organization.
    pub name: String,
    /// IANA name of the organization's time zone; UTC when null.
    pub timezone: Option<String>,
}

/// Settings of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSettingsView {
    /// Number of the organization.
    pub id: i64,
    /// Name of the organization.
    pub name: String,
    /// IANA name of the organization's time zone.
    pub timezone: String,
    /// Whether members without a second factor are denied access to the organization.
    pub require_two_factor: bool,
}

/// Body of `PUT /api/organizations/{id}/settings`. Null fields are not changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSettingsRequest {
    /// Name of the organization.
    pub name: Option<String>,
    /// IANA name of the organization's time zone.
    pub timezone: Option<String>,
    /// Whether members need a second factor. Only users with a second factor can turn it on.
    pub require_two_factor: Option<bool>,
}

/// A member of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// Number of the account.
    pub user_id: i64,
    /// E-mail address.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// Role in the organization: `owner`, `admin`, `user` or `readonly`.
    pub role: String,
    /// Time at which the member joined.
    #[schema(format = DateTime)]
    pub joined_at: String,
    /// Whether the member signs in with a second factor.
    pub two_factor: bool,
    /// Roles in single projects, which replace `role` there.
    pub project_roles: Vec<ProjectRole>,
}

/// A role in one project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRole {
    /// Id of the project.
    #[schema(format = "uuid")]
    pub project_id: String,
    /// Role in the project: `user` or `readonly`.
    pub role: String,
}

/// Body of `PUT /api/organizations/{id}/members/{userId}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct RoleRequest {
    /// New role: `admin`, `user` or `readonly`.
    pub role: String,
}

/// A member's roles in single projects. The list is complete: other project roles are removed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRoles {
    /// The roles.
    pub project_roles: Vec<ProjectRole>,
}

/// Body of `POST /api/organizations/{id}/invitations`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct InvitationRequest {
    /// E-mail address of the person.
    pub email: String,
    /// Role of the new member: `admin`, `user` or `readonly`.
    pub role: String,
}

/// An invitation that was created, or the new link of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct InvitationCreated {
    /// Description of the change, one sentence.
    pub message: String,
    /// The link of the invitation, shown once. Omitted if the link was mailed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub link: Option<String>,
}

/// An invitation that is open or expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    /// Number of the invitation.
    pub id: i64,
    /// E-mail address of the person.
    pub email: String,
    /// Role of the new member.
    pub role: String,
    /// Name of the member who sent it.
    pub inviter_name: String,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of expiry.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// An invitation, for the person who has its link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitedView {
    /// E-mail address of the person.
    pub email: String,
    /// Name of the organization.
    pub organization_name: String,
    /// Name of the member who sent it.
    pub inviter_name: String,
    /// Whether the address has an account, which must sign in to accept.
    pub exists_as_user: bool,
    /// Role of the new member.
    pub role: String,
}

/// Body of `POST /api/invitations/{token}/accept`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AcceptRequest {
    /// Name of the person.
    pub name: String,
    /// Password of the new account.
    #[schema(min_length = 8)]
    pub password: String,
}

/// The answer to a forgotten password, the same for every address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetRequested {
    /// Description of the next step, one sentence.
    pub message: String,
    /// Whether the server can send the mail. Without a mail server its operator sets another password.
    pub has_mail_server: bool,
}

/// Body of `POST /api/forgot-password`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ForgotPasswordRequest {
    /// E-mail address of the account.
    pub email: String,
}

/// `GET /api/password-reset/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResetView {
    /// Whether the link can be used.
    pub valid: bool,
    /// E-mail address of the account; absent when the link is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// Body of `POST /api/password-reset/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetPasswordRequest {
    /// The new password.
    #[schema(min_length = 8)]
    pub password: String,
    /// Whether to revoke the account's personal access tokens too; false when null.
    pub end_personal_access_tokens: Option<bool>,
}

/// Body of `PUT /api/me`. Null fields are not changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ProfileRequest {
    /// Name of the person.
    pub name: Option<String>,
    /// IANA name of the time zone.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: Option<String>,
}

/// Entries of the audit log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditPage {
    /// Entries of this page.
    pub data: Vec<AuditLineView>,
    /// `before` of the next page; null on the last page.
    pub next: Option<i64>,
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLineView {
    /// Number of the entry.
    pub id: i64,
    /// Time of the action.
    #[schema(format = DateTime)]
    pub at: String,
    /// The person; null when the action was not by a person.
    pub actor: Option<AuditActor>,
    /// Name of the action, such as `project.rename`.
    pub action: String,
    /// The object, such as `project:<uuid>`.
    pub target: String,
    /// Network address of the actor; empty for the command line of the server's machine.
    pub ip: String,
    /// User agent of the client, truncated; null when it was not recorded.
    pub user_agent: Option<String>,
    /// Details of the action; the keys depend on `action`.
    #[schema(value_type = Object)]
    pub detail: serde_json::Value,
}

/// The actor of an audit log entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditActor {
    /// Number of the account; null when the actor was not signed in.
    pub id: Option<i64>,
    /// E-mail address, or the name of another actor.
    pub email: String,
}

/// Body of `POST /api/me/sessions/revoke`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokeSessionsRequest {
    /// Whether to revoke the user's personal access tokens too; false when null.
    pub end_personal_access_tokens: Option<bool>,
    /// Whether to remove the user's passkeys too; false when null.
    pub end_passkeys: Option<bool>,
}

/// A session of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Number of the session.
    pub id: i64,
    /// Whether it is the session of this request.
    pub current: bool,
    /// User agent of the client that signed in.
    pub user_agent: String,
    /// Network address of the latest request.
    pub address: String,
    /// Time of the sign-in.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest request, with a precision of one minute.
    #[schema(format = DateTime)]
    pub last_seen_at: String,
    /// Time of expiry.
    #[schema(format = DateTime)]
    pub expires_at: String,
}
