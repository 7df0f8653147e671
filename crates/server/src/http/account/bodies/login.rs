//! Registration, sign-in with a password, and the accounts that a signed-in person reaches.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::project::ProjectView;

/// `GET /api/has-organizations`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HasOrganizations {
    /// Whether the server has an organization; false before its setup.
    pub has_organizations: bool,
    /// Whether registration requires the code that the server printed at startup.
    pub needs_setup_code: bool,
}

/// Body of `POST /api/register`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterRequest {
    /// E-mail address of the new account.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// Password of the new account.
    #[schema(min_length = 8)]
    pub password: String,
    /// Name of the new organization.
    pub organization_name: String,
    /// IANA name of the organization's time zone; UTC when null.
    pub timezone: Option<String>,
    /// Name of the first project: 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
    pub project_name: String,
    /// Framework of the first project; `opentelemetry` when null.
    pub framework: Option<String>,
    /// The code that the server printed at startup, if `needsSetupCode` is true.
    pub setup_code: Option<String>,
}

/// Body of `POST /api/login`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LoginRequest {
    /// E-mail address of the account.
    pub email: String,
    /// Password of the account.
    pub password: String,
}

/// A user account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    /// Number of the account.
    pub id: i64,
    /// E-mail address.
    pub email: String,
    /// Name of the person.
    pub name: String,
    /// Time of the registration.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// IANA name of the time zone; null until chosen.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// Whether signing in requires a second factor.
    pub two_factor: bool,
    /// Whether the e-mail address is confirmed.
    pub email_verified: bool,
}

/// An organization of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OrganizationView {
    /// Number of the organization.
    pub id: i64,
    /// Name of the organization.
    pub name: String,
    /// The user's role: `owner`, `admin`, `user` or `readonly`.
    pub role: String,
    /// IANA name of the organization's time zone.
    pub timezone: String,
}

/// The user's account, projects and organizations.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LoginBundle {
    /// The user's account.
    pub user: UserView,
    /// Projects that the user can open.
    pub projects: Vec<ProjectView>,
    /// Organizations of the user.
    pub organizations: Vec<OrganizationView>,
}

/// `POST /api/login`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LoginAnswer {
    /// JWT, valid for 7 days.
    pub token: String,
    /// The user's account.
    pub user: UserView,
    /// Projects that the user can open.
    pub projects: Vec<ProjectView>,
    /// Organizations of the user.
    pub organizations: Vec<OrganizationView>,
}

/// Result of a password login: the login, or a request for the second factor.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum LoginOutcome {
    /// The user is signed in.
    In(LoginAnswer),
    /// A second factor is required.
    Next(SecondFactorNeeded),
}

/// Body of `PUT /api/me/password`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePasswordRequest {
    /// The user's password.
    pub current_password: String,
    /// The new password.
    #[schema(min_length = 8)]
    pub new_password: String,
}

/// A login that replaces the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NewLogin {
    /// JWT, valid for 7 days.
    pub token: String,
}

/// `POST /api/register`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RegisterAnswer {
    /// JWT, valid for 7 days.
    pub token: String,
    /// The new account.
    pub user: UserView,
    /// The new project.
    pub project: ProjectView,
    /// Projects that the user can open.
    pub projects: Vec<ProjectView>,
    /// Organizations of the user.
    pub organizations: Vec<OrganizationView>,
}

/// The password is correct; `POST /api/login/mfa` must follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactorNeeded {
    /// Always true.
    pub mfa_required: bool,
    /// Token for the second step, valid for five minutes.
    pub mfa_token: String,
    /// `totp`, `passkey`, `recovery`.
    pub methods: Vec<String>,
}
