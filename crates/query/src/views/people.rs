//! Organisations, members, invitations, forgotten passwords, the audit log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::passkeys::AuthenticationResponse;

/// Body of `POST /api/organizations`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewOrganizationRequest {
    pub name: String,
    /// IANA name; UTC when absent.
    pub timezone: Option<String>,
}

/// What an organisation's admins set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSettingsView {
    pub id: i64,
    pub name: String,
    pub timezone: String,
    /// Members without a second factor open nothing in it.
    pub require_two_factor: bool,
}

/// Body of `PUT /api/organizations/{id}/settings`: what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSettingsRequest {
    pub name: Option<String>,
    pub timezone: Option<String>,
    /// Only who has a second factor turns it on.
    pub require_two_factor: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    pub user_id: i64,
    pub email: String,
    pub name: String,
    /// `owner`, `admin`, `user` or `readonly`.
    pub role: String,
    #[schema(format = DateTime)]
    pub joined_at: String,
    /// Signs in with a second factor.
    pub two_factor: bool,
    /// Instead of the role above.
    pub project_roles: Vec<ProjectRole>,
}

/// A role in one project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRole {
    #[schema(format = "uuid")]
    pub project_id: String,
    /// `user` or `readonly`.
    pub role: String,
}

/// Body of `PUT /api/organizations/{id}/members/{userId}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct RoleRequest {
    /// `admin`, `user` or `readonly`.
    pub role: String,
}

/// A member's roles in single projects: these and no others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRoles {
    pub project_roles: Vec<ProjectRole>,
}

/// Body of `POST /api/organizations/{id}/invitations`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct InvitationRequest {
    pub email: String,
    /// `admin`, `user` or `readonly`.
    pub role: String,
}

/// An invitation that is open or has run out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    pub id: i64,
    pub email: String,
    pub role: String,
    pub inviter_name: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// What the holder of an invitation's link sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitedView {
    pub email: String,
    pub organization_name: String,
    pub inviter_name: String,
    /// The address has an account, which has to sign in to accept.
    pub exists_as_user: bool,
    pub role: String,
}

/// Body of `POST /api/invitations/{token}/accept`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AcceptRequest {
    pub name: String,
    #[schema(min_length = 8)]
    pub password: String,
}

/// Body of `POST /api/forgot-password`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ForgotPasswordRequest {
    pub email: String,
}

/// `GET /api/password-reset/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResetView {
    pub valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// Body of `POST /api/password-reset/{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetPasswordRequest {
    #[schema(min_length = 8)]
    pub password: String,
    /// Ends the account's personal access tokens too.
    pub end_personal_access_tokens: Option<bool>,
}

/// Body of `PUT /api/me`: what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ProfileRequest {
    pub name: Option<String>,
    /// IANA name.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: Option<String>,
}

/// Lines of the audit log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditPage {
    pub data: Vec<AuditLineView>,
    /// `before` of the next page; none on the last.
    pub next: Option<i64>,
}

/// Who changed what, when, from where.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLineView {
    pub id: i64,
    #[schema(format = DateTime)]
    pub at: String,
    /// None: not a person.
    pub actor: Option<AuditActor>,
    /// Such as `project.rename`.
    pub action: String,
    /// Such as `project:<uuid>`.
    pub target: String,
    /// Address it came from; empty when from this machine's command line.
    pub ip: String,
    /// The client's own words about itself, cut short; absent from before it was recorded.
    pub user_agent: Option<String>,
    #[schema(value_type = Object)]
    pub detail: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditActor {
    /// None: had not signed in.
    pub id: Option<i64>,
    /// An e-mail address, or what else acted.
    pub email: String,
}

/// Body of `POST /api/me/sessions/revoke`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokeSessionsRequest {
    /// Ends one's personal access tokens too.
    pub end_personal_access_tokens: Option<bool>,
    /// Removes one's passkeys too.
    pub end_passkeys: Option<bool>,
}

/// One of one's sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: i64,
    /// The session of this request.
    pub current: bool,
    /// Of the browser or program that signed in.
    pub user_agent: String,
    /// Where it was last seen.
    pub address: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// To the minute.
    #[schema(format = DateTime)]
    pub last_seen_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// How one can prove who one is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepUpWays {
    /// `password`, `totp`, `passkey`.
    pub methods: Vec<String>,
    /// For `totp` and `passkey`, five minutes; a challenge comes from `POST /api/login/mfa/passkey/start`.
    pub mfa_token: Option<String>,
    /// Providers to sign in with anew: `GET /api/auth/start/{provider}?fresh=true`.
    pub providers: Vec<String>,
}

/// Body of `POST /api/me/step-up`: the password; or `mfaToken` with a code, or with a passkey and its challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepUpRequest {
    pub password: Option<String>,
    pub mfa_token: Option<String>,
    /// Six digits.
    pub code: Option<String>,
    pub challenge_id: Option<String>,
    pub passkey: Option<AuthenticationResponse>,
}

/// What needs a fresh proof is allowed until then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StepUpAnswer {
    #[schema(format = DateTime)]
    pub until: String,
}
