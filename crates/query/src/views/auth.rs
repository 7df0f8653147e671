//! Credentials: personal access tokens, sign-ins of clients, devices, acknowledge links.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::passkeys::{AuthenticationResponse, PasskeyView};

/// Body of `POST /api/personal-access-tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPersonalTokenRequest {
    pub name: String,
    /// 90 when absent.
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u32>,
    /// `read`, `write` (and `read`) or `admin` (and both); `read` and `write` when absent.
    pub scopes: Option<Vec<String>>,
    /// The projects that it is for; all of its maker's when absent.
    pub project_ids: Option<Vec<String>>,
}

/// A personal access token, after the day it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonalTokenView {
    pub id: i64,
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// `read`, `write`, `admin`: the highest and those it contains.
    pub scopes: Vec<String>,
    /// The projects that it is for; null: all of its maker's.
    pub project_ids: Option<Vec<String>>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// To the minute.
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

/// A new personal access token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPersonalToken {
    pub id: i64,
    pub name: String,
    pub prefix: String,
    /// Shown this once.
    pub token: String,
    pub scopes: Vec<String>,
    pub project_ids: Option<Vec<String>>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// A change that says what came of it in one word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatusAnswer {
    pub status: String,
}

impl StatusAnswer {
    pub fn of(status: &str) -> StatusAnswer {
        StatusAnswer { status: status.to_owned() }
    }
}

/// A client that may act for the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    pub id: i64,
    pub client_name: String,
    pub client_id: String,
    /// `read`, `write`, `admin`: the highest and those it contains.
    pub scopes: Vec<String>,
    /// The projects that it is for; null: all of the reader's.
    pub project_ids: Option<Vec<String>>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

/// Body of `POST /api/auth/device/authorize`, as JSON or a form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeviceAuthorizeRequest {
    /// `traceway-cli` when absent; `traceway-mcp`, `tidewatch-cli` and `tidewatch-mcp` are known besides.
    pub client_id: Option<String>,
    /// `read`, `write`, `admin`, between spaces; `read write` when absent.
    pub scope: Option<String>,
}

/// RFC 8628, 3.2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeviceAuthorizeAnswer {
    pub device_code: String,
    /// `XXXX-XXXX`
    pub user_code: String,
    pub verification_uri: String,
    pub verification_uri_complete: String,
    /// Seconds.
    pub expires_in: u64,
    /// Seconds.
    pub interval: u64,
}

/// Body of `POST /api/auth/token`, as JSON or a form. Which fields are needed depends on the grant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
pub struct TokenRequest {
    /// `device_code`, `urn:ietf:params:oauth:grant-type:device_code`, `refresh_token` or `authorization_code`.
    pub grant_type: Option<String>,
    pub client_id: Option<String>,
    pub device_code: Option<String>,
    pub refresh_token: Option<String>,
    pub code: Option<String>,
    pub code_verifier: Option<String>,
    pub redirect_uri: Option<String>,
    pub resource: Option<String>,
}

/// RFC 6749, 5.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TokenAnswer {
    pub access_token: String,
    pub refresh_token: String,
    /// `Bearer`
    pub token_type: String,
    /// Seconds until the access token ends.
    pub expires_in: i64,
    /// What was granted: `read`, `read write` or `read write admin`.
    pub scope: String,
    pub email: String,
}

/// Body of `POST /api/auth/logout`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LogoutRequest {
    pub refresh_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceQuery {
    /// In any spelling.
    pub user_code: Option<String>,
}

/// A device that waits for its person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    #[serde(rename = "user_code")]
    pub user_code: String,
    /// `pending`, `approved`, `denied` or `used`.
    pub status: String,
    pub client_name: String,
    /// Where the device asked from.
    pub address: String,
    /// What it asks for: `read`, `read write` or `read write admin`.
    pub scope: String,
    #[schema(format = DateTime)]
    pub requested_at: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Body of `POST /api/device/approve` and `/deny`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeviceDecision {
    pub user_code: String,
    /// Less than the device asks for; as it asks when absent.
    pub scope: Option<String>,
    /// The projects that it is let into; all of the reader's when absent.
    pub project_ids: Option<Vec<String>>,
}

/// Body of `POST /api/oauth/register`. RFC 7591, 2.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ClientRegistration {
    pub redirect_uris: Option<Vec<String>>,
    pub client_name: Option<String>,
    /// `none`: clients are public.
    pub token_endpoint_auth_method: Option<String>,
    pub grant_types: Option<Vec<String>>,
    pub response_types: Option<Vec<String>>,
}

/// RFC 7591, 3.2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RegisteredClient {
    pub client_id: String,
    /// Seconds since the epoch.
    pub client_id_issued_at: i64,
    pub client_name: String,
    pub redirect_uris: Vec<String>,
    pub token_endpoint_auth_method: String,
    pub grant_types: Vec<String>,
    pub response_types: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClientQuery {
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
}

/// Who asks for consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientView {
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
}

/// Body of `POST /api/oauth/approve` and `/deny`: what stood in the address of the consent page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ConsentRequest {
    pub client_id: String,
    pub redirect_uri: String,
    /// PKCE.
    pub code_challenge: Option<String>,
    /// `S256`
    pub code_challenge_method: Option<String>,
    pub state: Option<String>,
    pub resource: Option<String>,
    /// `read`, `write`, `admin`, between spaces; `read write` when absent. The person may allow less.
    pub scope: Option<String>,
    /// The projects that the client is let into; all of the reader's when absent.
    pub project_ids: Option<Vec<String>>,
}

/// Where the browser goes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentAnswer {
    pub redirect_to: String,
}

/// RFC 8414.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuthorizationServer {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub registration_endpoint: String,
    pub device_authorization_endpoint: String,
    pub response_types_supported: Vec<String>,
    pub grant_types_supported: Vec<String>,
    pub code_challenge_methods_supported: Vec<String>,
    pub token_endpoint_auth_methods_supported: Vec<String>,
    pub scopes_supported: Vec<String>,
    pub authorization_response_iss_parameter_supported: bool,
}

/// RFC 9728.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtectedResource {
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub bearer_methods_supported: Vec<String>,
    pub scopes_supported: Vec<String>,
}

/// What an acknowledge link is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckView {
    pub subject: String,
    /// `open` or `acknowledged`.
    pub status: String,
    #[schema(format = DateTime)]
    pub acknowledged_at: Option<String>,
}

/// `GET /api/auth/providers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProvidersAnswer {
    /// Whether people sign in with a password.
    pub password: bool,
    /// Whether people sign in with passkeys.
    pub passkeys: bool,
    pub providers: Vec<ProviderView>,
    /// Whether the first account can be registered.
    pub registration: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProviderView {
    /// `google`, `github` or `oidc`.
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StartQuery {
    /// Where to go afterwards: a path of this server; anything else is ignored.
    pub redirect: Option<String>,
    /// Asks the provider to have the person sign in again there, for step-up.
    pub fresh: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CallbackQuery {
    pub code: Option<String>,
    pub state: Option<String>,
    pub error: Option<String>,
}

/// Body of `POST /api/auth/finish-setup`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinishSetupRequest {
    pub organization_name: String,
    /// IANA name; UTC when absent.
    pub timezone: Option<String>,
    pub project_name: String,
    pub framework: Option<String>,
    /// The code that the server printed at its start.
    pub setup_code: Option<String>,
}

/// `GET /api/me/two-factor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TwoFactorView {
    pub totp: bool,
    pub recovery_codes_left: i64,
    pub passkeys: Vec<PasskeyView>,
}

/// One's own password, once more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasswordRequest {
    pub password: String,
}

/// An authenticator that is being set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotpSetup {
    /// Base32, to be typed.
    pub secret: String,
    /// `otpauth://totp/...`
    pub uri: String,
    /// The same as a picture.
    pub qr_svg: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CodeRequest {
    /// Six digits.
    pub code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryCodes {
    /// Each opens once.
    pub recovery_codes: Vec<String>,
}

/// Body of `POST /api/login/mfa`: one of the codes, a passkey and its challenge, or a password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactorRequest {
    pub mfa_token: String,
    /// Six digits.
    pub code: Option<String>,
    pub recovery_code: Option<String>,
    pub challenge_id: Option<String>,
    pub passkey: Option<AuthenticationResponse>,
    /// Where `methods` names `password`.
    pub password: Option<String>,
    /// Where `methods` names `email`: the code that `POST /api/login/mfa/mail` sends.
    pub mail_code: Option<String>,
}

/// Body of `POST /api/login/mfa/mail`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkMailRequest {
    pub mfa_token: String,
}

/// The password was right; `POST /api/login/mfa` is next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactorNeeded {
    /// Always true.
    pub mfa_required: bool,
    /// For five minutes.
    pub mfa_token: String,
    /// `totp`, `passkey`, `recovery`.
    pub methods: Vec<String>,
}

/// Sign-in elsewhere, as the operator has set it up for the whole server. Secrets are not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SsoView {
    /// Passwords are taken too.
    pub password_login: bool,
    pub providers: Vec<SsoProviderView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SsoProviderView {
    /// `google`, `github` or `oidc`.
    pub id: String,
    pub name: String,
    /// Always true: those that are not set up are not listed.
    pub enabled: bool,
    #[schema(required)]
    pub issuer: Option<String>,
    pub client_id: String,
    /// People who were not invited are let in.
    pub auto_create: bool,
    #[schema(required)]
    pub role_claim: Option<String>,
    /// Values of the claim, and the roles they mean.
    pub role_map: BTreeMap<String, String>,
}
