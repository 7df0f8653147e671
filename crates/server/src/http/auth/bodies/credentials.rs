//! Credentials: personal access tokens, sign-ins of clients, devices, acknowledgement links.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Body of `POST /api/personal-access-tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPersonalTokenRequest {
    /// Name of the token.
    pub name: String,
    /// Days until the token expires; 90 when null.
    #[schema(minimum = 1, maximum = 3650)]
    pub expires_in_days: Option<u32>,
    /// `read`, `write` (includes `read`) or `admin` (includes both); `read` and `write` when null.
    pub scopes: Option<Vec<String>>,
    /// Projects that the token can access; all projects of its creator when null.
    pub project_ids: Option<Vec<String>>,
}

/// A personal access token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonalTokenView {
    /// Number of the token.
    pub id: i64,
    /// Name of the token.
    pub name: String,
    /// First characters of the token.
    pub prefix: String,
    /// `read`, `write`, `admin`: the highest scope and those it includes.
    pub scopes: Vec<String>,
    /// Projects that the token can access; null: all projects of its creator.
    pub project_ids: Option<Vec<String>>,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of expiry; null: never.
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Time of the latest use, with a precision of one minute; null: never used.
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

/// A new personal access token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPersonalToken {
    /// Number of the token.
    pub id: i64,
    /// Name of the token.
    pub name: String,
    /// First characters of the token.
    pub prefix: String,
    /// The token, which is shown only here.
    pub token: String,
    /// `read`, `write`, `admin`: the highest scope and those it includes.
    pub scopes: Vec<String>,
    /// Projects that the token can access; null: all projects of its creator.
    pub project_ids: Option<Vec<String>>,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of expiry; null: never.
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// A client that may act for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantView {
    /// Number of the grant.
    pub id: i64,
    /// Name of the client.
    pub client_name: String,
    /// Id of the client.
    pub client_id: String,
    /// `read`, `write`, `admin`: the highest scope and those it includes.
    pub scopes: Vec<String>,
    /// Projects that the client can access; null: all projects of the user.
    pub project_ids: Option<Vec<String>>,
    /// Time of the approval.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest use; null: never used.
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

/// Body of `POST /api/auth/device/authorize`, as JSON or a form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeviceAuthorizeRequest {
    /// Id of the client: `traceway-cli` (when null), `traceway-mcp`, `tidewatch-cli` or `tidewatch-mcp`.
    pub client_id: Option<String>,
    /// `read`, `write`, `admin`, separated by spaces; `read write` when null.
    pub scope: Option<String>,
}

/// Device authorization response of RFC 8628, section 3.2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeviceAuthorizeAnswer {
    /// Code with which the client requests the token.
    pub device_code: String,
    /// Code that the user enters: `XXXX-XXXX`.
    pub user_code: String,
    /// URL of the page where the user enters the code.
    pub verification_uri: String,
    /// URL of that page with the code.
    pub verification_uri_complete: String,
    /// Seconds until both codes expire.
    pub expires_in: u64,
    /// Minimum seconds between token requests.
    pub interval: u64,
}

/// Body of `POST /api/auth/token`, as JSON or a form. The required fields depend on the grant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, ToSchema)]
pub struct TokenRequest {
    /// `device_code`, `urn:ietf:params:oauth:grant-type:device_code`, `refresh_token` or `authorization_code`.
    pub grant_type: Option<String>,
    /// Id of the client.
    pub client_id: Option<String>,
    /// The device code, for the device grant.
    pub device_code: Option<String>,
    /// The refresh token, for `refresh_token`.
    pub refresh_token: Option<String>,
    /// The authorization code, for `authorization_code`.
    pub code: Option<String>,
    /// PKCE code verifier, for `authorization_code`.
    pub code_verifier: Option<String>,
    /// Redirect URI of the authorization request, for `authorization_code`.
    pub redirect_uri: Option<String>,
    /// URL of the resource server, RFC 8707.
    pub resource: Option<String>,
}

/// Access token response of RFC 6749, section 5.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: String,
    /// The refresh token, which every refresh replaces.
    pub refresh_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// Seconds until the access token expires.
    pub expires_in: i64,
    /// Granted scopes: `read`, `read write` or `read write admin`.
    pub scope: String,
    /// E-mail address of the user.
    pub email: String,
}

/// Body of `POST /api/auth/logout`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LogoutRequest {
    /// The refresh token of the login to end.
    pub refresh_token: Option<String>,
}

/// Selects a device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeviceQuery {
    /// The user code; case and dashes are ignored.
    pub user_code: Option<String>,
}

/// A device that waits for the user's approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    /// The user code.
    #[serde(rename = "user_code")]
    pub user_code: String,
    /// `pending`, `approved`, `denied` or `used`.
    pub status: String,
    /// Name of the client.
    pub client_name: String,
    /// Network address of the device.
    pub address: String,
    /// Requested scopes: `read`, `read write` or `read write admin`.
    pub scope: String,
    /// Time of the request.
    #[schema(format = DateTime)]
    pub requested_at: String,
    /// Time at which the request expires.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Body of `POST /api/device/approve` and `/deny`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct DeviceDecision {
    /// The user code.
    pub user_code: String,
    /// Granted scopes, at most the requested ones; the requested scopes when null.
    pub scope: Option<String>,
    /// Projects that the device can access; all projects of the user when null.
    pub project_ids: Option<Vec<String>>,
}

/// Body of `POST /api/oauth/register`. RFC 7591, section 2.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ClientRegistration {
    /// Redirect URIs of the client.
    pub redirect_uris: Option<Vec<String>>,
    /// Name of the client, shown to users.
    pub client_name: Option<String>,
    /// Must be `none`: clients are public.
    pub token_endpoint_auth_method: Option<String>,
    /// Grant types that the client uses.
    pub grant_types: Option<Vec<String>>,
    /// Response types that the client uses.
    pub response_types: Option<Vec<String>>,
}

/// Client registration response of RFC 7591, section 3.2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RegisteredClient {
    /// Id of the client.
    pub client_id: String,
    /// Time of the registration, seconds since the epoch.
    pub client_id_issued_at: i64,
    /// Name of the client.
    pub client_name: String,
    /// Redirect URIs of the client.
    pub redirect_uris: Vec<String>,
    /// Always `none`.
    pub token_endpoint_auth_method: String,
    /// Grant types that the client may use.
    pub grant_types: Vec<String>,
    /// Response types that the client may use.
    pub response_types: Vec<String>,
}

/// Selects a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClientQuery {
    /// Id of the client.
    pub client_id: Option<String>,
    /// Redirect URI of the authorization request.
    pub redirect_uri: Option<String>,
}

/// A client that requests the user's consent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientView {
    /// Id of the client.
    pub client_id: String,
    /// Name of the client.
    pub client_name: String,
    /// URI to which the browser returns.
    pub redirect_uri: String,
}

/// Body of `POST /api/oauth/approve` and `/deny`: the parameters of the authorization request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ConsentRequest {
    /// Id of the client.
    pub client_id: String,
    /// URI to which the browser returns.
    pub redirect_uri: String,
    /// PKCE code challenge.
    pub code_challenge: Option<String>,
    /// Must be `S256`.
    pub code_challenge_method: Option<String>,
    /// Value that is returned to the client.
    pub state: Option<String>,
    /// URL of the resource server, RFC 8707.
    pub resource: Option<String>,
    /// `read`, `write`, `admin`, separated by spaces; `read write` when null. Users can grant less than was requested.
    pub scope: Option<String>,
    /// Projects that the client can access; all projects of the user when null.
    pub project_ids: Option<Vec<String>>,
}

/// The result of the user's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentAnswer {
    /// URL to which the browser goes next.
    pub redirect_to: String,
}

/// Authorization server metadata of RFC 8414.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuthorizationServer {
    /// URL of this server.
    pub issuer: String,
    /// URL of the authorization endpoint.
    pub authorization_endpoint: String,
    /// URL of the token endpoint.
    pub token_endpoint: String,
    /// URL of the registration endpoint.
    pub registration_endpoint: String,
    /// URL of the device authorization endpoint.
    pub device_authorization_endpoint: String,
    /// Supported response types.
    pub response_types_supported: Vec<String>,
    /// Supported grant types.
    pub grant_types_supported: Vec<String>,
    /// Supported PKCE methods.
    pub code_challenge_methods_supported: Vec<String>,
    /// Supported client authentication methods.
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// Supported scopes.
    pub scopes_supported: Vec<String>,
    /// Whether authorization responses have the parameter `iss`, RFC 9207.
    pub authorization_response_iss_parameter_supported: bool,
}

/// Protected resource metadata of RFC 9728.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProtectedResource {
    /// URL of the resource.
    pub resource: String,
    /// URLs of its authorization servers.
    pub authorization_servers: Vec<String>,
    /// Supported ways to send a token.
    pub bearer_methods_supported: Vec<String>,
    /// Supported scopes.
    pub scopes_supported: Vec<String>,
}

/// The subject of an acknowledgement link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckView {
    /// Subject of the page or alert that is acknowledged.
    pub subject: String,
    /// `open` or `acknowledged`.
    pub status: String,
    /// Time of the acknowledgement; null while open.
    #[schema(format = DateTime)]
    pub acknowledged_at: Option<String>,
    /// Of a page: more about it.
    #[serde(flatten)]
    pub page: Option<AckPage>,
}

/// A page, as its acknowledgement link shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckPage {
    /// Sentences.
    pub body: String,
    /// `critical`, `warning` or `info`.
    pub severity: String,
    /// `high` or `low`.
    pub urgency: String,
    /// Name of the rule.
    pub rule_name: String,
    /// Name of the project.
    pub project_name: String,
    /// Number of times that the cause has fired.
    pub event_count: i64,
    /// When it fired last.
    #[schema(format = DateTime)]
    pub last_event_at: String,
    /// When the page was opened.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Name of the user who acknowledged it.
    pub acknowledged_by_name: Option<String>,
}
