//! Passkeys: [`own`] adds, names and removes one's own; [`sign_in`] takes one instead of a password, or after it.
//!
//! There are none where the base URL is no place for them (`RelyingParty::at`), nor where nobody signs in here
//! (`DISABLE_PASSWORD_LOGIN`: the other provider decides alone).

pub mod own;
pub mod sign_in;

use crate::app::App;
use crate::error::ApiError;
use tidewatch_accounts::secrets::webauthn::{Assertion, RelyingParty};
use tidewatch_accounts::{Passkey, Proof};
use tidewatch_limits as limits;
use tidewatch_query::views::passkeys::{
    AuthenticationResponse, PasskeyDescriptor, PasskeyRequest, PasskeyView, RequestOptions,
};

use super::rfc3339;

const PUBLIC_KEY: &str = "public-key";

pub fn view(passkey: &Passkey) -> PasskeyView {
    PasskeyView {
        id: passkey.id,
        name: passkey.name.clone(),
        created_at: rfc3339(passkey.created_ns),
        last_used_at: passkey.last_used_ns.map(rfc3339),
    }
}

/// The proof in a body that may hold a passkey's answer and the challenge that it answers; `None` unless it holds both.
pub fn proof_of<'a>(
    app: &'a App,
    challenge: Option<&'a String>,
    answer: Option<&'a AuthenticationResponse>,
) -> Result<Option<Proof<'a>>, ApiError> {
    let (Some(challenge), Some(answer)) = (challenge, answer) else { return Ok(None) };
    Ok(Some(proof(party(app)?, challenge, answer)))
}

/// What a passkey answers in a second step or instead of a password.
pub fn proof<'a>(party: &'a RelyingParty, challenge: &'a str, answer: &'a AuthenticationResponse) -> Proof<'a> {
    Proof {
        party,
        challenge,
        credential_id: &answer.id,
        user_handle: answer.response.user_handle.as_deref(),
        assertion: Assertion {
            client_data: &answer.response.client_data,
            authenticator_data: &answer.response.authenticator_data,
            signature: &answer.response.signature,
        },
    }
}

/// 404 where there are none.
pub fn party(app: &App) -> Result<&RelyingParty, ApiError> {
    app.passkeys.as_ref().ok_or_else(|| ApiError::not_found("there are no passkeys here"))
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
