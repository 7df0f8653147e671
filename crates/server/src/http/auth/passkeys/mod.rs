//! Passkeys: [`own`] adds, renames and removes the user's passkeys; with [`sign_in`] they replace the password, or are
//! the second factor.
//!
//! Passkeys are unavailable if the public URL does not permit them (`RelyingParty::at`), and if users sign in only with
//! another provider (`DISABLE_PASSWORD_LOGIN`).

pub mod own;
pub mod sign_in;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::auth::bodies::passkeys::{
    AuthenticationResponse, PasskeyDescriptor, PasskeyRequest, PasskeyView, RequestOptions,
};
use tidewatch_accounts::secrets::webauthn::{Assertion, RelyingParty};
use tidewatch_accounts::{Passkey, Verification};
use tidewatch_limits as limits;

use super::fields::rfc3339;

const PUBLIC_KEY: &str = "public-key";

/// The view of a passkey.
pub fn view(passkey: &Passkey) -> PasskeyView {
    PasskeyView {
        id: passkey.id,
        name: passkey.name.clone(),
        created_at: rfc3339(passkey.created_ns),
        last_used_at: passkey.last_used_ns.map(rfc3339),
    }
}

/// The verification of an optional passkey response. `None` unless both challenge and response are present. Fails with
/// 404 if passkeys are unavailable.
pub fn proof_of<'a>(
    accounts: &'a Accounts,
    challenge: Option<&'a String>,
    response: Option<&'a AuthenticationResponse>,
) -> Result<Option<Verification<'a>>, ApiError> {
    let (Some(challenge), Some(response)) = (challenge, response) else { return Ok(None) };
    Ok(Some(proof(party(accounts)?, challenge, response)))
}

/// The verification of a passkey response to `challenge`.
pub fn proof<'a>(
    party: &'a RelyingParty,
    challenge: &'a str,
    response: &'a AuthenticationResponse,
) -> Verification<'a> {
    Verification {
        party,
        challenge,
        credential_id: &response.id,
        user_handle: response.response.user_handle.as_deref(),
        assertion: Assertion {
            client_data: &response.response.client_data,
            authenticator_data: &response.response.authenticator_data,
            signature: &response.response.signature,
        },
    }
}

/// The relying party of this server. Fails with 404 if passkeys are unavailable.
pub fn party(accounts: &Accounts) -> Result<&RelyingParty, ApiError> {
    accounts.passkeys.as_ref().ok_or_else(|| ApiError::not_found("there are no passkeys here"))
}

fn descriptor(id: &str, transports: &[String]) -> PasskeyDescriptor {
    PasskeyDescriptor { r#type: PUBLIC_KEY, id: id.to_owned(), transports: transports.to_vec() }
}

fn request(
    party: &RelyingParty,
    challenge: String,
    allowed: Vec<PasskeyDescriptor>,
    verify: &'static str,
) -> PasskeyRequest {
    let options = RequestOptions {
        challenge: challenge.clone(),
        timeout: timeout_ms(),
        rp_id: party.id.clone(),
        allow_credentials: allowed,
        user_verification: verify,
    };
    PasskeyRequest { challenge_id: challenge, options }
}

fn timeout_ms() -> u64 {
    limits::PASSKEY_CEREMONY_MAX.as_secs() * 1000
}
