//! Passkeys, in the JSON of browsers: WebAuthn level 3, 5.1 (`...JSON` dictionaries). Bytes are base64url.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Options for the creation of a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyCreation {
    /// Id to send with the result, valid for five minutes.
    pub challenge_id: String,
    /// Options for `navigator.credentials.create`.
    pub options: CreationOptions,
}

/// `PublicKeyCredentialCreationOptionsJSON` of WebAuthn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreationOptions {
    /// The relying party: this server.
    pub rp: PasskeyParty,
    /// The user.
    pub user: PasskeyOwner,
    /// The challenge.
    pub challenge: String,
    /// Accepted algorithms, the preferred one first.
    pub pub_key_cred_params: Vec<PasskeyAlgorithm>,
    /// Time limit, milliseconds.
    pub timeout: u64,
    /// Passkeys that the user has already.
    pub exclude_credentials: Vec<PasskeyDescriptor>,
    /// Requirements for the authenticator.
    pub authenticator_selection: AuthenticatorSelection,
    /// Always `none`.
    pub attestation: &'static str,
}

/// The relying party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyParty {
    /// Domain of this server.
    pub id: String,
    /// Display name of the server.
    pub name: &'static str,
}

/// The user of a new passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyOwner {
    /// User handle.
    pub id: String,
    /// E-mail address.
    pub name: String,
    /// Name of the person.
    pub display_name: String,
}

/// An accepted algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyAlgorithm {
    /// Always `public-key`.
    pub r#type: &'static str,
    /// COSE algorithm identifier.
    pub alg: i64,
}

/// A known passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PasskeyDescriptor {
    /// Always `public-key`.
    pub r#type: &'static str,
    /// Credential id.
    pub id: String,
    /// Transports to the authenticator; absent when unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<String>,
}

/// Requirements for an authenticator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorSelection {
    /// Whether a discoverable credential is wanted: `preferred`.
    pub resident_key: &'static str,
    /// Always false.
    pub require_resident_key: bool,
    /// Whether the user must be verified: `preferred`.
    pub user_verification: &'static str,
}

/// Options for a sign-in with a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyRequest {
    /// Id to send with the result, valid for five minutes.
    pub challenge_id: String,
    /// Options for `navigator.credentials.get`.
    pub options: RequestOptions,
}

/// `PublicKeyCredentialRequestOptionsJSON` of WebAuthn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestOptions {
    /// The challenge.
    pub challenge: String,
    /// Time limit, milliseconds.
    pub timeout: u64,
    /// Domain of this server.
    pub rp_id: String,
    /// Passkeys that are accepted; empty: any passkey for this server.
    pub allow_credentials: Vec<PasskeyDescriptor>,
    /// Whether the user must be verified.
    pub user_verification: &'static str,
}

/// Body of `POST /api/me/passkeys/start` and `DELETE /api/me/passkeys/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct OwnPassword {
    /// The user's password; null for an account without one.
    pub password: Option<String>,
}

/// Body of `POST /api/me/passkeys/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPasskeyRequest {
    /// `challengeId` of the creation options.
    pub challenge_id: String,
    /// Name of the passkey.
    pub name: String,
    /// The new credential.
    pub credential: RegistrationResponse,
}

/// The fields of `RegistrationResponseJSON` of WebAuthn that are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
pub struct RegistrationResponse {
    /// Credential id.
    pub id: String,
    /// The authenticator's response.
    pub response: AttestationResponse,
}

/// An authenticator's response to a creation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
pub struct AttestationResponse {
    /// Client data.
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    /// Attestation object.
    #[serde(rename = "attestationObject")]
    pub attestation: String,
    /// Transports to the authenticator: `usb`, `nfc`, `ble`, `smart-card`, `hybrid`, `internal`.
    #[serde(default)]
    pub transports: Vec<String>,
}

/// A passkey that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPasskey {
    /// The passkey.
    #[serde(flatten)]
    pub passkey: PasskeyView,
    /// Recovery codes, if the account had none; shown only here.
    pub recovery_codes: Option<Vec<String>>,
}

/// Body of `PUT /api/me/passkeys/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasskeyName {
    /// New name of the passkey.
    pub name: String,
}

/// Body of `POST /api/login/passkey/start`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PasskeyLoginStart {
    /// E-mail address of the account, for passkeys that are not discoverable; null: any passkey of the browser.
    pub email: Option<String>,
}

/// Body of `POST /api/login/passkey/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyLoginFinish {
    /// `challengeId` of the sign-in options.
    pub challenge_id: String,
    /// The passkey's response.
    pub credential: AuthenticationResponse,
}

/// Body of `POST /api/login/mfa/passkey/start`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeySecondStepStart {
    /// `mfaToken` of the login or step-up.
    pub mfa_token: String,
}

/// The fields of `AuthenticationResponseJSON` of WebAuthn that are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AuthenticationResponse {
    /// Credential id.
    pub id: String,
    /// The authenticator's response.
    pub response: AssertionResponse,
}

/// An authenticator's response to a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssertionResponse {
    /// Client data.
    #[serde(rename = "clientDataJSON")]
    pub client_data: String,
    /// Authenticator data.
    pub authenticator_data: String,
    /// Signature over both.
    pub signature: String,
    /// User handle; null when the authenticator does not return it.
    pub user_handle: Option<String>,
}

/// A passkey of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyView {
    /// Number of the passkey.
    pub id: i64,
    /// Name of the passkey.
    pub name: String,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time of the latest use; null: never used.
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}
