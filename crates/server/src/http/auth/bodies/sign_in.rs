//! Sign-in: identity providers, second factors, the first set-up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::passkeys::{AuthenticationResponse, PasskeyView};

/// `GET /api/auth/providers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProvidersAnswer {
    /// Whether users can sign in with a password.
    pub password: bool,
    /// Whether users can sign in with passkeys.
    pub passkeys: bool,
    /// Identity providers with which users can sign in.
    pub providers: Vec<ProviderView>,
    /// Whether the first account can be registered.
    pub registration: bool,
}

/// An identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProviderView {
    /// `google`, `github` or `oidc`.
    pub id: String,
    /// Display name of the provider.
    pub name: String,
}

/// Options of a sign-in with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StartQuery {
    /// Path of this server to go to after the sign-in; anything else is ignored.
    pub redirect: Option<String>,
    /// Whether the provider must authenticate the user again, for step-up.
    pub fresh: Option<bool>,
}

/// Parameters with which a provider returns the browser.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CallbackQuery {
    /// The authorization code; absent after an error.
    pub code: Option<String>,
    /// The state of the sign-in.
    pub state: Option<String>,
    /// The provider's error code; absent after a success.
    pub error: Option<String>,
}

/// Body of `POST /api/auth/finish-setup`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinishSetupRequest {
    /// Name of the first organization.
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

/// `GET /api/me/two-factor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TwoFactorView {
    /// Whether an authenticator app is set up.
    pub totp: bool,
    /// Number of unused recovery codes.
    pub recovery_codes_left: i64,
    /// Passkeys of the account.
    pub passkeys: Vec<PasskeyView>,
}

/// Confirmation with the user's password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasswordRequest {
    /// The user's password.
    pub password: String,
}

/// The secret of an authenticator app that is being set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotpSetup {
    /// The secret in Base32.
    pub secret: String,
    /// The secret as a URI: `otpauth://totp/...`.
    pub uri: String,
    /// The URI as a QR code, an SVG image.
    pub qr_svg: String,
}

/// A code of the authenticator app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CodeRequest {
    /// Six digits.
    pub code: String,
}

/// New recovery codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryCodes {
    /// The codes; each can be used once.
    pub recovery_codes: Vec<String>,
}

/// Body of `POST /api/login/mfa`: one of the codes, a passkey and its challenge, or a password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactorRequest {
    /// `mfaToken` of the password login.
    pub mfa_token: String,
    /// Code of the authenticator app: six digits.
    pub code: Option<String>,
    /// A recovery code.
    pub recovery_code: Option<String>,
    /// `challengeId` of the passkey options.
    pub challenge_id: Option<String>,
    /// The passkey's response, with `challengeId`.
    pub passkey: Option<AuthenticationResponse>,
    /// The password, if `methods` contains `password`.
    pub password: Option<String>,
    /// The code mailed by `POST /api/login/mfa/mail`, if `methods` contains `email`.
    pub mail_code: Option<String>,
}

/// Body of `POST /api/login/mfa/mail`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkMailRequest {
    /// `mfaToken` of the login.
    pub mfa_token: String,
}

/// Sign-in with identity providers, as configured for the whole server. Secrets are not returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SsoView {
    /// Whether passwords are accepted too.
    pub password_login: bool,
    /// Configured providers.
    pub providers: Vec<SsoProviderView>,
}

/// A configured identity provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SsoProviderView {
    /// `google`, `github` or `oidc`.
    pub id: String,
    /// Display name of the provider.
    pub name: String,
    /// Always true: only configured providers are listed.
    pub enabled: bool,
    /// URL of the OpenID Connect issuer; null for a provider without one.
    #[schema(required)]
    pub issuer: Option<String>,
    /// Client id of this server at the provider.
    pub client_id: String,
    /// Whether people without an invitation can sign in.
    pub auto_create: bool,
    /// Claim with the person's roles; null: roles are not taken from the provider.
    #[schema(required)]
    pub role_claim: Option<String>,
    /// Roles by value of the claim.
    pub role_map: BTreeMap<String, String>,
}
