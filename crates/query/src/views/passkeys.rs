//! Passkeys, in the JSON that browsers speak: WebAuthn level 3, 5.1 (`...JSON` dictionaries). Bytes are base64url.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a new passkey is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyCreation {
    /// For the answer; five minutes.
    pub challenge_id: String,
    pub options: CreationOptions,
}

/// `PublicKeyCredentialCreationOptionsJSON`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreationOptions {
    pub rp: PasskeyParty,
    pub user: PasskeyOwner,
    pub challenge: String,
    pub pub_key_cred_params: Vec<PasskeyAlgorithm>,
    /// Milliseconds.
    pub timeout: u64,
    pub exclude_credentials: Vec<PasskeyDescriptor>,
    pub authenticator_selection: AuthenticatorSelection,
    /// Always `none`.
    pub attestation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyParty {
    pub id: String,
    pub name: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyOwner {
    pub id: String,
    pub name: String,
    pub display_name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyAlgorithm {
    /// Always `public-key`.
    pub r#type: &'static str,
    /// COSE's number.
    pub alg: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyDescriptor {
    /// Always `public-key`.
    pub r#type: &'static str,
    pub id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorSelection {
    pub resident_key: &'static str,
    pub require_resident_key: bool,
    pub user_verification: &'static str,
}

/// What a passkey proves itself with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyRequest {
    /// For the answer; five minutes.
    pub challenge_id: String,
    pub options: RequestOptions,
}

/// `PublicKeyCredentialRequestOptionsJSON`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestOptions {
    pub challenge: String,
    /// Milliseconds.
    pub timeout: u64,
    pub rp_id: String,
    /// Empty: any that the authenticator has for this server.
    pub allow_credentials: Vec<PasskeyDescriptor>,
    pub user_verification: &'static str,
}

/// Body of `POST /api/me/passkeys/start` and `DELETE /api/me/passkeys/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct OwnPassword {
    /// One's own, once more; not asked of those who have none.
    pub password: Option<String>,
}

/// Body of `POST /api/me/passkeys/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPasskeyRequest {
    pub challenge_id: String,
    pub name: String,
    pub credential: RegistrationResponse,
}

/// `RegistrationResponseJSON`, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
pub struct RegistrationResponse {
    pub id: String,
    pub response: AttestationResponse,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
pub struct AttestationResponse {
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    #[serde(rename = "attestationObject")]
    pub attestation: String,
    /// How the authenticator is reached: `usb`, `nfc`, `ble`, `smart-card`, `hybrid`, `internal`.
    #[serde(default)]
    pub transports: Vec<String>,
}

/// A passkey that was just added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPasskey {
    #[serde(flatten)]
    pub passkey: PasskeyView,
    /// For who had none; shown this once.
    pub recovery_codes: Option<Vec<String>>,
}

/// Body of `PUT /api/me/passkeys/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasskeyName {
    pub name: String,
}

/// Body of `POST /api/login/passkey/start`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasskeyLoginStart {
    /// For passkeys that do not know whose they are; absent: any that the browser has.
    pub email: Option<String>,
}

/// Body of `POST /api/login/passkey/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyLoginFinish {
    pub challenge_id: String,
    pub credential: AuthenticationResponse,
}

/// Body of `POST /api/login/mfa/passkey/start`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeySecondStepStart {
    pub mfa_token: String,
}

/// `AuthenticationResponseJSON`, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AuthenticationResponse {
    pub id: String,
    pub response: AssertionResponse,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    pub authenticator_data: String,
    pub signature: String,
    pub user_handle: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyView {
    pub id: i64,
    pub name: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}
