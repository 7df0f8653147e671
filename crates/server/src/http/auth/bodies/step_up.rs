//! Step-up: repeated authentication.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::passkeys::AuthenticationResponse;

/// Ways in which the user can authenticate again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepUpWays {
    /// `password`, `totp`, `passkey`.
    pub methods: Vec<String>,
    /// Token for `totp` and `passkey`, valid for five minutes, see `POST /api/login/mfa/passkey/start`; null without
    /// these methods.
    pub mfa_token: Option<String>,
    /// Providers for a new sign-in: `GET /api/auth/start/{provider}?fresh=true`.
    pub providers: Vec<String>,
}

/// Body of `POST /api/me/step-up`: the password; or `mfaToken` with a code, or with a passkey and its challenge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepUpRequest {
    /// The user's password.
    pub password: Option<String>,
    /// `mfaToken` of the step-up methods, for a code or passkey.
    pub mfa_token: Option<String>,
    /// Code of the authenticator app: six digits.
    pub code: Option<String>,
    /// `challengeId` of the passkey options.
    pub challenge_id: Option<String>,
    /// The passkey's response, with `challengeId`.
    pub passkey: Option<AuthenticationResponse>,
}

/// Confirmation of a step-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StepUpAnswer {
    /// End of the period in which operations that require step-up are allowed.
    #[schema(format = DateTime)]
    pub until: String,
}
